#include "supervise/child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>

namespace backplane {
namespace {

constexpr int kExecFailed = 127;

// The strings and the pointer arrays that exec wants, made before the fork: after it only async-signal-safe calls are allowed.
struct ExecImage {
  explicit ExecImage(const ChildCommand& command) : strings{command.program.string()} {
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

  std::vector<std::string> strings, variables;
  std::vector<char*> argv, envp;
};

int OpenLog(const std::filesystem::path& file) {
  const int fd = open(file.empty() ? "/dev/null" : file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd < 0) {
    throw std::runtime_error("cannot open " + file.string() + ": " + std::strerror(errno));
  }
  return fd;
}

[[noreturn]] void BecomeChild(const ExecImage& image, int in, int out, int err, int inherit_fd, pid_t parent) {
  setpgid(0, 0);  // a Ctrl-C at the terminal reaches the supervisor only
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) {
    _exit(kExecFailed);  // the parent died before the line above: no signal would come any more
  }
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) {
    std::signal(signal, SIG_DFL);
  }
  dup2(in, STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  if (inherit_fd >= 0) {
    fcntl(inherit_fd, F_SETFD, 0);
  }
  execve(image.argv[0], image.argv.data(), image.envp.data());
  _exit(kExecFailed);
}

}  // namespace

Child::Child(const ChildCommand& command) {
  if (access(command.program.c_str(), X_OK) != 0) {
    throw std::runtime_error("cannot start " + command.program.string() + ": " + std::strerror(errno));
  }
  const ExecImage image(command);
  const int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
  const int out = OpenLog(command.stdout_file), err = OpenLog(command.stderr_file);
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ == 0) {
    BecomeChild(image, in, out, err, command.inherit_fd, parent);
  }
  const int fork_error = errno;
  close(in);
  close(out);
  close(err);
  if (pid_ < 0) {
    throw std::runtime_error(std::string("cannot start a process: ") + std::strerror(fork_error));
  }
  setpgid(pid_, pid_);  // also here, so that a kill of the group can not come too early; fails harmlessly after exec
  pidfd_ = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
}

Child::~Child() {
  if (!exit_) {
    Signal(SIGKILL);
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
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
  int status = 0;
  if (waitpid(pid_, &status, WNOHANG) == pid_) {
    // Helpers that the trial left in its group end with it.
    kill(-pid_, SIGKILL);
    exit_ = WIFSIGNALED(status) ? ChildExit{0, WTERMSIG(status)} : ChildExit{WEXITSTATUS(status), 0};
  }
  return exit_;
}

void Child::Signal(int signal) {
  if (!exit_ && kill(-pid_, signal) != 0) {
    kill(pid_, signal);
  }
}

}  // namespace backplane
