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

constexpr std::chrono::milliseconds kUntilAllAreGone{500};  // what another user's is, say, can not be ended
constexpr std::chrono::milliseconds kLookAgain{2};
constexpr size_t kStackBytes = 256 << 10;

std::optional<ShimLink> TakeLink() {
  const char* text = std::getenv(kShimVariable);
  ShimLink link;
  // NOLINTNEXTLINE(bugprone-unchecked-string-to-number-conversion): this process has written it
  if (text == nullptr || std::sscanf(text, "%d %d %d", &link.alive_fd, &link.kill_fd, &link.lock_fd) != 3) return std::nullopt;
  unsetenv(kShimVariable);
  // Of somebody else's environment the numbers mean nothing here.
  struct stat alive {};
  if (fstat(link.alive_fd, &alive) != 0 || !S_ISFIFO(alive.st_mode)) return std::nullopt;
  for (const int fd : {link.alive_fd, link.kill_fd, link.lock_fd}) fcntl(fd, F_SETFD, FD_CLOEXEC);
  return link;
}

// Those that have ended and are not reaped stay as they are.
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
  // Without a group of its own. Each that dies hands its children on, so it takes as many rounds as the tree is deep.
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
  pollfd alive{link.alive_fd, 0, 0};  // asks for nothing: the end of the other side is told all the same
  for (;;) {
    if (poll(&alive, 1, -1) > 0 && (alive.revents & (POLLHUP | POLLERR)) != 0) EndAll(link);
    // A plugin has closed the descriptor: then the shim can not be watched any more.
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
  pthread_sigmask(SIG_SETMASK, &all, &before);  // signals are the other threads'
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
  // Until here the kernel would have ended this process with its shim, and nothing else; now there is time to end the rest.
  prctl(PR_SET_PDEATHSIG, 0);
}

}  // namespace backplane
