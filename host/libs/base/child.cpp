#include "base/child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>

#include "base/pipe.hpp"

namespace backplane {
namespace {

constexpr int kExecFailed = 127;

// The strings and the pointer arrays that exec wants, made before the fork: after it only async-signal-safe calls are allowed.
struct ExecImage {
  explicit ExecImage(const ChildCommand& command)
      : program(command.program.string()),
        folder(command.folder.string()),
        strings{command.name.empty() ? program : command.name} {
    strings.insert(strings.end(), command.arguments.begin(), command.arguments.end());
    for (char** entry = environ; *entry != nullptr; ++entry) {
      if (!Overridden(*entry, command.environment)) {
        variables.emplace_back(*entry);
      }
    }
    variables.insert(variables.end(), command.environment.begin(), command.environment.end());
    for (std::string& text : strings) {
      argv.push_back(text.data());
    }
    for (std::string& text : variables) {
      envp.push_back(text.data());
    }
    argv.push_back(nullptr);
    envp.push_back(nullptr);
  }

  static bool Overridden(const std::string& entry, const std::vector<std::string>& overrides) {
    const std::string name = entry.substr(0, entry.find('=') + 1);
    for (const std::string& text : overrides) {
      if (text.starts_with(name)) {
        return true;
      }
    }
    return false;
  }

  const std::string program, folder;
  std::vector<std::string> strings, variables;
  std::vector<char*> argv, envp;
};

// Blocks all signals in this thread and in the children that it forks.
class AllSignalsBlocked {
 public:
  AllSignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~AllSignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  AllSignalsBlocked(const AllSignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

int OpenLog(const std::filesystem::path& file) {
  const int fd = open(file.empty() ? "/dev/null" : file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd < 0) {
    throw std::runtime_error("cannot open " + file.string() + ": " + std::strerror(errno));
  }
  return fd;
}

struct ChildFiles {
  int in, out, err;
};

void KeepOpen(int fd) {
  if (fd >= 0) {
    fcntl(fd, F_SETFD, 0);
  }
}

enum class StartStep { kJoinGroup = 1, kEnterFolder, kExecute };

// Sent by the child through a close-on-exec pipe: an empty pipe means that exec succeeded.
struct StartFailure {
  StartStep step;
  int error;  // errno
};

[[noreturn]] void Fail(int failure_fd, StartStep step) {
  const StartFailure failure{step, errno};
  [[maybe_unused]] const ssize_t n = write(failure_fd, &failure, sizeof failure);
  _exit(kExecFailed);
}

void ResetSignals(const std::vector<int>& blocked_signals) {
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGCHLD}) {
    std::signal(signal, SIG_DFL);
  }
  // Only now: the parent's handler would have swallowed signals since the fork.
  sigset_t blocked;
  sigemptyset(&blocked);
  for (const int signal : blocked_signals) {
    sigaddset(&blocked, signal);
  }
  sigprocmask(SIG_SETMASK, &blocked, nullptr);
}

[[noreturn]] void BecomeChild(const ExecImage& image, const ChildFiles& files, const std::vector<int>& inherit_fds,
                              const ChildSetup& setup, pid_t parent, int failure_fd) {
  // A Ctrl-C at the terminal reaches the supervisor only.
  if (setup.own_session) {
    setsid();
  } else {
    setpgid(0, 0);
  }
  prctl(PR_SET_PDEATHSIG, setup.death_signal);
  if (getppid() != parent) {
    _exit(kExecFailed);  // the parent died before the line above: no signal would come any more
  }
  if (setup.cgroup_procs_fd >= 0 && write(setup.cgroup_procs_fd, "0", 1) != 1) {
    Fail(failure_fd, StartStep::kJoinGroup);  // outside its group it would run without its limits
  }
  if (setup.data_limit_bytes) {
    const rlimit limit{*setup.data_limit_bytes, *setup.data_limit_bytes};
    setrlimit(RLIMIT_DATA, &limit);
  }
  ResetSignals(setup.blocked_signals);
  dup2(files.in, STDIN_FILENO);
  dup2(files.out, STDOUT_FILENO);
  dup2(files.err, STDERR_FILENO);
  for (const int fd : inherit_fds) {
    KeepOpen(fd);
  }
  KeepOpen(setup.report_fd);
  if (!image.folder.empty() && chdir(image.folder.c_str()) != 0) {
    Fail(failure_fd, StartStep::kEnterFolder);
  }
  execve(image.program.c_str(), image.argv.data(), image.envp.data());
  Fail(failure_fd, StartStep::kExecute);
}

// Waits until the child has executed its program or ended.
std::optional<StartFailure> ReadFailure(int fd) {
  StartFailure failure;
  ssize_t n = 0;
  while ((n = read(fd, &failure, sizeof failure)) < 0 && errno == EINTR) {
  }
  return n == sizeof failure ? std::optional(failure) : std::nullopt;
}

std::string Sentence(const StartFailure& failure, const std::filesystem::path& program) {
  const char* step = failure.step == StartStep::kJoinGroup     ? ": the process cannot join its control group: "
                     : failure.step == StartStep::kEnterFolder ? ": its working folder cannot be entered: "
                                                               : ": ";
  return "cannot start " + program.string() + step + std::strerror(failure.error);
}

void ReapEnded(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace

void RequireExecutable(const std::filesystem::path& program) {
  if (access(program.c_str(), X_OK) != 0) {
    throw ProgramError("cannot start " + program.string() + ": " + std::strerror(errno));
  }
}

Child::Child(const ChildCommand& command, const ChildSetup& setup) {
  RequireExecutable(command.program);
  const ExecImage image(command);
  const ChildFiles files{open("/dev/null", O_RDONLY | O_CLOEXEC),
                         setup.stdout_fd < 0 ? OpenLog(command.stdout_file) : fcntl(setup.stdout_fd, F_DUPFD_CLOEXEC, 3),
                         setup.stderr_fd < 0 ? OpenLog(command.stderr_file) : fcntl(setup.stderr_fd, F_DUPFD_CLOEXEC, 3)};
  Pipe failure(Pipe::Read::kWaits);
  const pid_t parent = getpid();
  int fork_error = 0;
  {
    const AllSignalsBlocked blocked;  // inherited, so that an early stop stays pending until the child can handle it
    pid_ = fork();
    if (pid_ == 0) {
      BecomeChild(image, files, command.inherit_fds, setup, parent, failure.writer());
    }
    fork_error = errno;
  }
  close(files.in);
  close(files.out);
  close(files.err);
  failure.CloseWriter();
  if (pid_ < 0) {
    throw std::runtime_error(std::string("cannot start a process: ") + std::strerror(fork_error));
  }
  if (!setup.own_session) {
    setpgid(pid_, pid_);  // here too, so that killing the group cannot come too early; fails harmlessly after exec
  }
  const std::optional<StartFailure> failed = ReadFailure(failure.reader());
  if (failed) {
    ReapEnded(pid_);
    throw ProgramError(Sentence(*failed, command.program));
  }
  pidfd_ = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
}

Child::~Child() {
  if (!exit_) {
    Signal(SIGKILL);
    ReapEnded(pid_);
  }
  if (pidfd_ >= 0) {
    close(pidfd_);
  }
}

std::optional<ChildExit> Child::Wait(int timeout_ms) {
  if (exit_) {
    return exit_;
  }
  pollfd watched{pidfd_, POLLIN,
                 0};  // a negative descriptor (a kernel without pidfd) only sleeps: then the exit is seen a tick late
  poll(&watched, 1, timeout_ms);
  siginfo_t ended{};
  const int found = waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOHANG | WNOWAIT);
  if (found != 0 && errno == ECHILD) {
    exit_ = ChildExit{-1};
  } else if (found == 0 && ended.si_pid == pid_) {
    // Kill processes that it left in its group. Do it before reaping, because the number may belong to a different group later.
    kill(-pid_, SIGKILL);
    int status = 0;
    rusage used{};
    wait4(pid_, &status, 0, &used);
    const auto peak_rss_bytes = static_cast<uint64_t>(used.ru_maxrss) * 1024;
    exit_ = WIFSIGNALED(status) ? ChildExit{0, WTERMSIG(status), peak_rss_bytes}
                                : ChildExit{WEXITSTATUS(status), 0, peak_rss_bytes};
  }
  return exit_;
}

void Child::Signal(int signal) {
  if (!exit_ && kill(-pid_, signal) != 0) {
    kill(pid_, signal);
  }
}

}  // namespace backplane
