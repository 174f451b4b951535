#include "trial/shim_watch.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <thread>
#include <vector>

#include "base/process.hpp"
#include "machine/kernel_file.hpp"
#include "machine/process_tree.hpp"
#include "shim/shim_protocol.hpp"

namespace backplane {
namespace {

constexpr std::chrono::milliseconds kUntilAllAreGone{500};  // some processes cannot be killed, for example another user's
constexpr std::chrono::milliseconds kLookAgain{2};
constexpr size_t kStackBytes = 256 << 10;

std::optional<ShimLink> TakeLink() {
  const char* text = std::getenv(kShimVariable);
  ShimLink link;
  // NOLINTNEXTLINE(bugprone-unchecked-string-to-number-conversion): this process has written it
  if (text == nullptr || std::sscanf(text, "%d %d %d", &link.alive_fd, &link.kill_fd, &link.lock_fd) != 3) return std::nullopt;
  unsetenv(kShimVariable);
  // The variable may stem from a foreign environment; then its descriptors are meaningless.
  struct stat alive {};
  if (fstat(link.alive_fd, &alive) != 0 || !S_ISFIFO(alive.st_mode)) return std::nullopt;
  for (const int fd : {link.alive_fd, link.kill_fd, link.lock_fd}) fcntl(fd, F_SETFD, FD_CLOEXEC);
  return link;
}

// Ignores zombies.
std::vector<pid_t> OurProcesses() {
  const pid_t self = getpid(), session = getsid(0);
  std::vector<pid_t> ours = DescendantsOf(self);
  for (const pid_t pid : NumberedEntries("/proc"))
    if (getsid(pid) == session) ours.push_back(pid);
  std::erase_if(ours, [&](pid_t pid) { return pid == self || !ProcessStart(pid); });
  return ours;
}

[[noreturn]] void EndAll(const ShimLink& link) {
  if (link.kill_fd >= 0 && write(link.kill_fd, "1", 1) == 1) std::this_thread::sleep_for(kLookAgain);
  // Without a control group. Each killed process hands its children on, so the rounds equal the depth of the tree.
  const auto until = std::chrono::steady_clock::now() + kUntilAllAreGone;
  for (std::vector<pid_t> ours; !(ours = OurProcesses()).empty() && std::chrono::steady_clock::now() < until;) {
    for (const pid_t pid : ours) kill(pid, SIGKILL);
    std::this_thread::sleep_for(kLookAgain);
  }
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

void* Watch(void* argument) {
  const ShimLink& link = *static_cast<const ShimLink*>(argument);
  pollfd alive{link.alive_fd, 0, 0};  // no events requested: poll always reports the end of the other side
  for (;;) {
    if (poll(&alive, 1, -1) > 0 && (alive.revents & (POLLHUP | POLLERR)) != 0) EndAll(link);
    // A plugin has closed the descriptor, so the shim can no longer be watched.
    if ((alive.revents & POLLNVAL) != 0) return nullptr;
  }
}

bool StartWatching(const ShimLink& link) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // other threads handle signals
  pthread_t thread;
  const bool started = pthread_create(&thread, &attributes, Watch, new ShimLink(link)) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  return started;
}

}  // namespace

void WatchShim() {
  const std::optional<ShimLink> link = TakeLink();
  if (!link || !StartWatching(*link)) return;
  // Until here the kernel would only have killed this process with its shim. Now the watch ends all processes.
  prctl(PR_SET_PDEATHSIG, 0);
}

}  // namespace backplane
