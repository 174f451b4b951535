#include "base/run_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/memory_file.hpp"

namespace backplane {
namespace {

using Clock = std::chrono::steady_clock;

enum class Waited { kEnded = 1, kTimedOut, kCancelled };

Waited WaitForEnd(pid_t pid, std::chrono::milliseconds limit, const std::function<bool()>& cancelled) {
  constexpr int kTick_ms = 5;  // of a kernel without descriptors of processes
  const int pidfd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  const auto end = Clock::now() + limit;
  Waited waited = Waited::kTimedOut;
  for (;;) {
    siginfo_t info{};
    const int error = waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 ? 0 : errno;
    // If SIGCHLD is ignored, the end is not reported.
    if (error == 0 ? info.si_pid == pid : error == ECHILD) waited = Waited::kEnded;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    if (waited == Waited::kEnded || left <= 0) break;
    if (cancelled && cancelled()) {
      waited = Waited::kCancelled;
      break;
    }
    pollfd ready{pidfd, POLLIN, 0};
    poll(&ready, 1, static_cast<int>(pidfd < 0 ? std::min<int64_t>(left, kTick_ms) : std::min<int64_t>(left, 1'000'000)));
  }
  if (pidfd >= 0) close(pidfd);
  return waited;
}

// With its descendants, which its own end would not end.
void KillTree(pid_t pid) {
  std::vector<pid_t> children;
  std::error_code error;
  const std::filesystem::path tasks = "/proc/" + std::to_string(pid) + "/task";
  for (auto task = std::filesystem::directory_iterator(tasks, error); !error && task != std::filesystem::directory_iterator();
       task.increment(error)) {
    std::ifstream list(task->path() / "children");
    for (pid_t child = 0; list >> child;) children.push_back(child);
  }
  kill(pid, SIGKILL);
  for (const pid_t child : children) KillTree(child);
}

}  // namespace

ProcessEnd RunProcess(const ProcessCall& call) {
  const MemoryFile in(call.input), out, err;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (!call.folder.empty()) posix_spawn_file_actions_addchdir_np(&actions, call.folder.c_str());
  posix_spawn_file_actions_adddup2(&actions, in.fd(), STDIN_FILENO);
  if (!call.shows_output) {
    posix_spawn_file_actions_adddup2(&actions, out.fd(), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, err.fd(), STDERR_FILENO);
  }
  std::vector<std::string> words = call.words;
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  ProcessEnd end;
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  end.started = error == 0;
  if (!end.started) {
    end.err = std::strerror(error);
    return end;
  }
  Waited waited = WaitForEnd(pid, call.limit, call.cancelled);
  end.timed_out = waited == Waited::kTimedOut;
  end.cancelled = waited == Waited::kCancelled;
  if (end.cancelled && call.grace.count() > 0 && kill(pid, SIGTERM) == 0) waited = WaitForEnd(pid, call.grace, {});
  if (waited != Waited::kEnded) KillTree(pid);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  end.code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  end.out = out.Content();
  end.err = err.Content();
  return end;
}

}  // namespace backplane
