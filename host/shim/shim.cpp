#include "shim/shim.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>
#include <tuple>

#include "base/child.hpp"
#include "base/error_words.hpp"
#include "base/pipe.hpp"
#include "base/process.hpp"
#include "machine/process_tree.hpp"
#include "shim/affinity.hpp"
#include "shim/cgroup.hpp"
#include "shim/log_pipe.hpp"
#include "shim/memory_watch.hpp"
#include "shim/shim_protocol.hpp"
#include "shim/silence_watch.hpp"

namespace backplane {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr unsigned kFirstInherited = 3;        // after stdin, stdout, stderr
constexpr milliseconds kTimeToTellWhere{500};  // as the supervisor's watchdog gives
// A killed process that is still there then waits for a disk, and may do so for ever.
constexpr milliseconds kKilledEndsWithin{5000};
constexpr milliseconds kLookAtTheRest{50};
constexpr milliseconds kContinueEvery{500};  // during the grace

sigset_t ShimSignalSet() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : ShimSignals()) {
    sigaddset(&set, signal);
  }
  return set;
}

void Report(const ShimOrder& order, const std::string& line) { WriteWhole(order.report_fd, line); }

class Shim {
 public:
  explicit Shim(const ShimOrder& order) : order_(order), signals_(ShimSignalSet()) {}

  void Run() {
    BecomeShim();
    StartTrial();
    while (!exit_ && !left_) {
      Wait();
      CheckTime();
    }
    EndTheRest();
    out_.Finish();  // what reads the logs comes after the report
    err_.Finish();
    ReportEnd();
  }

 private:
  void BecomeShim() {
    sigprocmask(SIG_BLOCK, &signals_, nullptr);
    for (const int signal : {SIGINT, SIGHUP, SIGPIPE}) {
      std::signal(signal, SIG_IGN);  // SIGPIPE: the report's reader may be dead
    }
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    close_range(kFirstInherited, ~0U, CLOSE_RANGE_CLOEXEC);
    SetAffinity(order_.cores);
  }

  void StartTrial() {
    if (!order_.cgroup.empty()) {
      group_ = TrialGroup::Make(GroupOfShim(order_.cgroup, getpid()), order_.memory_bytes, order_.cores);
    }
    if (order_.memory_bytes && !group_) {
      watch_.emplace(getpid(), *order_.memory_bytes);
      next_look_ = Clock::now();
    }
    if (order_.silence_limit_s > 0) {
      silence_.emplace(order_.status_file, order_.silence_limit_s);
      next_sign_look_ = Clock::now() + milliseconds(silence_->next_look_ms());
    }
    oom_kills_before_ = OomKillCount();
    ChildCommand command;
    command.program = order_.program;
    command.arguments = order_.arguments;
    const ShimLink link{alive_.reader(), group_ ? group_->kill_fd() : -1, order_.lock_fd};
    command.environment = {ToVariable(link)};
    command.inherit_fds = {link.alive_fd, link.kill_fd, link.lock_fd};
    ChildSetup setup{.death_signal = SIGKILL, .stdout_fd = out_.writer(), .stderr_fd = err_.writer(), .own_session = true};
    setup.cgroup_procs_fd = group_ ? group_->procs_fd() : -1;
    setup.data_limit_bytes = watch_ ? order_.memory_bytes : std::nullopt;
    trial_ = std::make_unique<Child>(command, setup);
    out_.CloseWriter();
    err_.CloseWriter();
    alive_.CloseReader();
    Report(order_, ToLine(KeepStart{trial_->pid(), ProcessStart(trial_->pid()).value_or(0)}));
  }

  // For a signal or something printed, until the next deadline if there is one.
  void Wait() {
    const std::optional<Clock::time_point> until = NextDeadline();
    const auto left = until ? std::max<int64_t>(0, std::chrono::ceil<milliseconds>(*until - Clock::now()).count()) : -1;
    pollfd watched[] = {{signal_fd_, POLLIN, 0}, {out_.reader(), POLLIN, 0}, {err_.reader(), POLLIN, 0}};
    poll(watched, std::size(watched), static_cast<int>(std::min<int64_t>(left, INT_MAX)));
    out_.Take();
    err_.Take();
    signalfd_siginfo info;
    if (read(signal_fd_, &info, sizeof info) == sizeof info) {
      Obey(static_cast<int>(info.ssi_signo));
    }
  }

  void Obey(int signal) {
    switch (signal) {
      case SIGTERM: Ask(); break;
      case SIGQUIT:
        LookWhoIsStuck();
        Kill();
        break;
      case SIGUSR1: AskThreads(); break;
      default: Reap(); break;
    }
  }

  // The main thread comes last, because the last write decides whose code is named.
  void AskThreads() {
    LookWhoIsStuck();
    std::error_code error;
    const std::string tasks = "/proc/" + std::to_string(trial_->pid()) + "/task";
    std::vector<pid_t> threads;
    for (std::filesystem::directory_iterator it(tasks, error), end; !error && it != end; it.increment(error))
      threads.push_back(static_cast<pid_t>(std::strtol(it->path().filename().c_str(), nullptr, 10)));
    std::sort(threads.begin(), threads.end(), std::greater<>());
    for (const pid_t thread : threads) tgkill(trial_->pid(), thread, SIGUSR1);
  }

  // The trial's own process first: the others may wait for it.
  void LookWhoIsStuck() {
    std::vector<pid_t> all = DescendantsOf(trial_->pid());
    all.insert(all.begin(), trial_->pid());
    for (const pid_t pid : all) {
      const auto state = StateOf(pid);
      if (!state || !(state->stopped() || state->waits_for_disk())) continue;
      Report(order_, ToLine(KeepStuck{pid, pid == trial_->pid(), state->letter, state->name}));
      return;
    }
  }

  std::optional<Clock::time_point> NextDeadline() const {
    std::optional<Clock::time_point> next;
    for (const auto& deadline : {kill_at_, next_look_, next_sign_look_, next_continue_, give_up_at_})
      if (deadline && (!next || *deadline < *next)) next = deadline;
    return next;
  }

  void Ask() {
    if (!asked_) {
      asked_ = true;
      const Clock::time_point graced = Clock::now() + milliseconds(static_cast<int64_t>(order_.grace_s * 1000));
      kill_at_ = std::min(kill_at_.value_or(graced), graced);  // a silent trial gets no more time
      trial_->Signal(SIGTERM);
      ContinueStopped();
    }
  }

  // A stopped process does not react to SIGTERM. Repeated, because one may be stopped later.
  void ContinueStopped() {
    next_continue_ = Clock::now() + kContinueEvery;
    std::vector<pid_t> all = DescendantsOf(trial_->pid());
    all.push_back(trial_->pid());
    for (const pid_t pid : all)
      if (const auto state = StateOf(pid); state && state->waits_for_continue()) kill(pid, SIGCONT);
  }

  void Kill() {
    kill_at_.reset();
    trial_->Signal(SIGKILL);
    if (!give_up_at_) give_up_at_ = Clock::now() + kKilledEndsWithin;
  }

  void CheckTime() {
    const Clock::time_point now = Clock::now();
    if (kill_at_ && now >= *kill_at_) {
      Kill();
    }
    if (next_look_ && now >= *next_look_) {
      if (!exit_ && watch_->IsOver()) {
        over_memory_ = true;
        Kill();
      }
      next_look_ = now + milliseconds(watch_->next_look_ms());
    }
    if (next_sign_look_ && now >= *next_sign_look_) {
      LookForSignOfLife(now);
    }
    if (next_continue_ && now >= *next_continue_) {
      ContinueStopped();
    }
    if (give_up_at_ && now >= *give_up_at_ && !exit_) {
      LookWhoIsStuck();
      left_ = true;
    }
  }

  // After the limit a sign of life comes too late. The trial has half a second to write down its stacks.
  void LookForSignOfLife(Clock::time_point now) {
    next_sign_look_ = now + milliseconds(silence_->next_look_ms());
    if (exit_ || give_up_at_ || !silence_->IsOver()) return;
    next_sign_look_.reset();
    over_silence_ = true;
    AskThreads();
    const Clock::time_point told_by = now + kTimeToTellWhere;
    kill_at_ = std::min(kill_at_.value_or(told_by), told_by);
  }

  // The trial itself, and orphans of it that have been given to us.
  void Reap() {
    for (;;) {
      siginfo_t ended{};
      if (waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT | __WALL) != 0 || ended.si_pid == 0) {
        return;
      }
      if (ended.si_pid == trial_->pid()) {
        exit_ = trial_->Wait(0);
        AddPeak(exit_->peak_rss_bytes);
      } else {
        ReapOne(ended.si_pid);
      }
    }
  }

  void ReapOne(pid_t pid) {
    rusage used{};
    int status = 0;
    wait4(pid, &status, __WALL, &used);
    AddPeak(static_cast<uint64_t>(used.ru_maxrss) * 1024);
  }

  void AddPeak(uint64_t bytes) { peak_rss_bytes_ = std::max(peak_rss_bytes_, bytes); }

  // Each that dies hands its own children to us, so it takes as many rounds as the tree is deep. One that waits for a disk is
  // left to the kernel.
  void EndTheRest() {
    const Clock::time_point until = left_ ? Clock::now() : Clock::now() + kKilledEndsWithin;
    for (;;) {
      for (const pid_t child : ChildrenOf(getpid())) {
        kill(child, SIGKILL);
      }
      if (!ReapEnded() || Clock::now() >= until) return;
      pollfd ended{signal_fd_, POLLIN, 0};
      poll(&ended, 1, static_cast<int>(kLookAtTheRest.count()));
      signalfd_siginfo info;
      while (read(signal_fd_, &info, sizeof info) == sizeof info) {
      }
    }
  }

  // False if there is no child left.
  bool ReapEnded() {
    for (;;) {
      siginfo_t ended{};
      if (waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT | __WALL) != 0) return errno != ECHILD;
      if (ended.si_pid == 0) return true;
      ReapOne(ended.si_pid);
    }
  }

  void ReportEnd() {
    if (left_) {
      exit_ = ChildExit{0, SIGKILL};
      std::ignore = trial_.release();  // whose destructor would wait for it
    }
    KeepEnd end{exit_->code, exit_->signal, peak_rss_bytes_};
    end.over_silence = over_silence_;
    end.left = left_;
    if (group_) {
      end.peak_memory_bytes = group_->PeakBytes();
      over_memory_ = group_->OomKilled();
    } else if (watch_) {
      end.peak_memory_bytes = watch_->peak_bytes();
    }
    end.over_memory = over_memory_ || (!over_silence_ && exit_->signal == SIGKILL && OomKillCount() > oom_kills_before_);
    if (order_.memory_bytes) {
      end.memory_enforced_by = group_ ? "cgroup" : "rlimit and watcher";
    }
    group_.reset();  // removed before the supervisor learns that no process is left
    Report(order_, ToLine(end));
  }

  const ShimOrder& order_;
  const sigset_t signals_;
  const int signal_fd_ = signalfd(-1, &signals_, SFD_NONBLOCK | SFD_CLOEXEC);
  LogPipe out_{STDOUT_FILENO}, err_{STDERR_FILENO};
  Pipe alive_{Pipe::Read::kWaits};  // carries no bytes: its end shows the trial that this process is gone (ShimLink)
  std::unique_ptr<TrialGroup> group_;
  std::optional<MemoryWatch> watch_;
  std::optional<SilenceWatch> silence_;
  std::unique_ptr<Child> trial_;
  std::optional<ChildExit> exit_;
  std::optional<Clock::time_point> kill_at_, next_look_, next_sign_look_;
  std::optional<Clock::time_point> next_continue_;
  std::optional<Clock::time_point> give_up_at_;  // waiting for a killed trial to end
  bool asked_ = false, over_memory_ = false, over_silence_ = false;
  bool left_ = false;  // a killed trial does not end
  uint64_t peak_rss_bytes_ = 0;
  long oom_kills_before_ = 0;
};

}  // namespace

std::vector<int> ShimSignals() { return {SIGTERM, SIGQUIT, SIGUSR1, SIGCHLD}; }

int RunShim(const std::vector<std::string>& arguments) {
  ShimOrder order;
  try {
    order = OrderFromArguments(arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "backplane-shim: %s\n", WordsOf(error).c_str());
    return EX_USAGE;
  }
  try {
    Shim(order).Run();
    return EX_OK;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "backplane-shim: %s\n", WordsOf(error).c_str());
    Report(order, ToLine(KeepFailure{WordsOf(error)}));  // thrown before the trial was there: later nothing throws
    return EX_TEMPFAIL;                                  // no process could be made: another try may go through
  }
}

}  // namespace backplane
