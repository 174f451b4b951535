#include "command/command_trial.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>

#include "base/child.hpp"
#include "base/error_words.hpp"
#include "base/files.hpp"
#include "base/json_text.hpp"
#include "base/pipe.hpp"
#include "base/printable.hpp"
#include "command/event_follower.hpp"
#include "command/output_scan.hpp"
#include "command/program.hpp"
#include "command/report_book.hpp"
#include "command/report_channel.hpp"
#include "command/tree_use.hpp"
#include "contract/placeholders.hpp"
#include "log/log.hpp"
#include "machine/cpu.hpp"
#include "machine/process_tree.hpp"
#include "record/results_folder.hpp"
#include "rollout/clocks.hpp"
#include "shim/cgroup.hpp"
#include "trial/checkpoint_folder.hpp"
#include "trial/shim_watch.hpp"
#include "trial/suspension.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;

constexpr double kFirstLook_s = 0.1, kLook_s = 1;  // intervals for the process tree and event files
constexpr double kGrace_s = 30;                    // as in a shim
constexpr int kPipeBytes = 1 << 20;                // the command can write while we are busy
constexpr size_t kMostBlocksAtOnce = 16;           // per stream, before the next one is read
constexpr size_t kLastLines = 20;                  // in which a message about memory is searched
constexpr int kBlindTick_ms = 20;                  // if the kernel does not signal a child's end
constexpr size_t kMostCommandWarnings = 20;
constexpr size_t kShownError = 1000;  // bytes

constexpr char kPhaseOfCommand[] = "command";

std::atomic<bool> g_asked_to_stop{false};
int g_wake_fd = -1;

// Any thread may run the handler, and the main thread waits for more than signals.
void OnStopCommand(int) {
  const int saved = errno;
  g_asked_to_stop = true;
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t n = write(g_wake_fd, &one, sizeof one);
  errno = saved;
}

void OnNothing(int) {}

void TakeSignals() {
  g_wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  struct sigaction stop {};
  stop.sa_handler = OnStopCommand;
  for (const int signal : {SIGTERM, SIGINT}) sigaction(signal, &stop, nullptr);
  // A shim sends SIGUSR1 to a trial that hangs. A command trial records nothing and must not die from it before its command.
  struct sigaction nothing {};
  nothing.sa_handler = OnNothing;
  nothing.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &nothing, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  // Processes that daemonize from the command become children of this process and end with it.
  prctl(PR_SET_CHILD_SUBREAPER, 1);
}

// Prevents a client from writing into a different file that reuses the closed descriptor's number.
std::string InodeOf(int fd) {
  struct stat info {};
  return fstat(fd, &info) == 0 ? std::to_string(info.st_ino) : "0";
}

class CommandTrial {
 public:
  explicit CommandTrial(TrialSpec spec)
      : spec_(std::move(spec)),
        folder_(fs::absolute(spec_.attempt_dir)),
        status_(folder_.status()),
        book_(spec_, &status_),
        measures_(spec_.experiment.command.metrics),
        tree_(folder_.resources()) {
    if (const auto& pattern = spec_.experiment.command.tensorboard) events_.emplace(folder_.folder, *pattern);
  }

  int Run() {
    WatchSuspension(&status_);
    status_.SetPlugin(kCommandLearner);
    status_.SetPhase(kPhaseOfCommand);
    return Finish(RunToItsEnd());
  }

 private:
  ExitReason RunToItsEnd();
  void Start();
  void Pump();
  void Wait();
  void TakeOutput(size_t most_blocks);
  void LookAround();
  void CheckTime();
  void Ask();
  ChildExit End();
  void EndWhatIsLeft();
  void ReapOrphans();
  void Add(const Report& report);
  ExitReason ReasonNow(const ChildExit& exit) const;
  ExitReason UnlessDiverged(const ExitReason& end) const;
  std::vector<std::string> LastLinesPrinted() const;
  int Finish(const ExitReason& end);
  TrialEnd EndNow(const ExitReason& end) const;
  std::vector<std::string> Warnings() const;

  const TrialSpec spec_;
  const AttemptFolder folder_;
  const fs::path prune_ = folder_.prune();
  StatusWriter status_;
  ReportBook book_;
  LineMeasures measures_;
  OutputScan out_scan_{&measures_}, err_scan_{&measures_};
  ReportChannel channel_;
  std::optional<EventFollower> events_;
  TreeUse tree_;
  std::vector<std::string> words_;
  Pipe out_{Pipe::Read::kReturns, kPipeBytes}, err_{Pipe::Read::kReturns, kPipeBytes},
      reports_{Pipe::Read::kReturns, kPipeBytes};
  std::unique_ptr<Child> child_;
  double next_look_s_ = kFirstLook_s;
  std::optional<double> kill_at_s_;
  bool asked_ = false;    // the command has a request to end
  bool reached_ = false;  // the command reached its budget
  bool pruned_ = false;   // the supervisor stops the trial early
  long oom_kills_before_ = 0;
};

ExitReason CommandTrial::RunToItsEnd() {
  book_.Start();
  try {
    words_ = CommandWords(spec_, GrantedCpus().size());
  } catch (const std::runtime_error& e) {
    return {kExitConfig, Outcome::kConfig, "", e.what()};
  }
  try {
    Start();
  } catch (const ProgramError& e) {
    return {kExitConfig, Outcome::kConfig, "", e.what()};
  } catch (const std::runtime_error& e) {
    return {kExitTemp, Outcome::kTemp, "", e.what()};
  }
  try {
    Pump();
    const ChildExit exit = End();
    book_.Stop();
    return ReasonNow(exit);
  } catch (const std::exception& e) {
    // For example a full disk; another attempt may succeed. The command must not run on without its records.
    const std::string why = WordsOf(e);
    child_.reset();
    EndWhatIsLeft();
    book_.Stop();
    return {kExitTemp, Outcome::kTemp, "", why};
  }
}

void CommandTrial::Start() {
  fs::create_directories(spec_.checkpoint_dir);
  const fs::path trial = fs::absolute(spec_.checkpoint_dir.parent_path());
  // Removes variables that the supervisor sets for our learners; a script that finds them assumes several processes.
  for (const char* name : {"RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "GROUP_RANK", "MASTER_ADDR"}) unsetenv(name);
  ChildCommand command;
  command.program = words_[0];
  command.arguments.assign(words_.begin() + 1, words_.end());
  command.folder = folder_.folder;
  command.inherit_fds = {reports_.writer()};
  command.environment = {
      "BACKPLANE_EXPERIMENT_DIR=" + fs::absolute(spec_.experiment_dir).string(), "BACKPLANE_TRIAL_DIR=" + trial.string(),
      "BACKPLANE_CHECKPOINT_DIR=" + (trial / spec_.checkpoint_dir.filename()).string(),
      "BACKPLANE_REPORT_FD=" + std::to_string(reports_.writer()), "BACKPLANE_REPORT_INODE=" + InodeOf(reports_.writer())};
  // Otherwise the output comes late, or is lost if the command is killed.
  if (std::getenv("PYTHONUNBUFFERED") == nullptr) command.environment.emplace_back("PYTHONUNBUFFERED=1");
  oom_kills_before_ = OomKillCount();
  child_ = std::make_unique<Child>(command,
                                   ChildSetup{.death_signal = SIGKILL, .stdout_fd = out_.writer(), .stderr_fd = err_.writer()});
  for (Pipe* pipe : {&out_, &err_, &reports_}) pipe->CloseWriter();
}

void CommandTrial::Pump() {
  while (!child_->Wait(0)) {
    Wait();
    TakeOutput(kMostBlocksAtOnce);
    if (g_asked_to_stop) Ask();
    CheckTime();
  }
}

// Waits for input, the command's end, a signal, or the next look.
void CommandTrial::Wait() {
  double until_s = next_look_s_;
  if (kill_at_s_) until_s = std::min(until_s, *kill_at_s_);
  const auto& wall_time_s = spec_.experiment.budget.wall_time_s;
  if (wall_time_s && !reached_) until_s = std::min(until_s, book_.attempt_s() + *wall_time_s - book_.SpentNow().seconds);
  auto left_ms = static_cast<int>(std::clamp(1000 * (until_s - book_.attempt_s()) + 1, 0.0, 1000.0));
  if (child_->exit_fd() < 0) left_ms = std::min(left_ms, kBlindTick_ms);
  pollfd watched[] = {{out_.reader(), POLLIN, 0},
                      {err_.reader(), POLLIN, 0},
                      {reports_.reader(), POLLIN, 0},
                      {child_->exit_fd(), POLLIN, 0},
                      {g_wake_fd, POLLIN, 0}};
  poll(watched, std::size(watched), left_ms);
  uint64_t wakes = 0;
  [[maybe_unused]] const ssize_t n = read(g_wake_fd, &wakes, sizeof wakes);
}

void CommandTrial::TakeOutput(size_t most_blocks) {
  bool printed = false;
  const UseReport use = [this](const Report& report) { Add(report); };
  const auto pass_on = [&](int fd, OutputScan* scan) {
    return [&, fd, scan](std::string_view bytes) {
      printed = true;
      WriteWhole(fd, bytes);
      scan->Add(bytes, use);
    };
  };
  out_.Take(most_blocks, pass_on(STDOUT_FILENO, &out_scan_));
  err_.Take(most_blocks, pass_on(STDERR_FILENO, &err_scan_));
  reports_.Take(most_blocks, [&](std::string_view bytes) {
    printed = true;
    channel_.Add(bytes, use);
  });
  if (printed) status_.Beat();
}

void CommandTrial::Add(const Report& report) {
  if (reached_) return;
  book_.Add(report);
  if (Reached(spec_.experiment.budget, book_.SpentNow())) reached_ = true, Ask();
}

// Reaps processes that left the command by forking twice.
void CommandTrial::ReapOrphans() {
  siginfo_t ended{};
  while (waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid != 0 && ended.si_pid != child_->pid()) {
    waitpid(ended.si_pid, nullptr, 0);
    ended.si_pid = 0;
  }
}

void CommandTrial::LookAround() {
  ReapOrphans();
  if (tree_.Look(book_.attempt_s(), book_.reports())) status_.Beat();
  if (events_) events_->Look([this](const Report& report) { Add(report), status_.Beat(); });
}

void CommandTrial::CheckTime() {
  if (book_.attempt_s() >= next_look_s_) {
    LookAround();
    next_look_s_ = book_.attempt_s() + kLook_s;
  }
  if (!reached_ && Reached(spec_.experiment.budget, book_.SpentNow())) reached_ = true, Ask();
  if (!asked_ && fs::exists(prune_)) pruned_ = true, Ask();
  if (kill_at_s_ && book_.attempt_s() >= *kill_at_s_) {
    kill_at_s_.reset();
    child_->Signal(SIGKILL);
  }
}

// Acts once. After a request of the supervisor, its shim kills the command; after a budget, this process does.
void CommandTrial::Ask() {
  if (std::exchange(asked_, true)) return;
  kill_at_s_ = book_.attempt_s() + kGrace_s;
  child_->Signal(SIGTERM);
}

// Ends all processes of the command; otherwise they would take cores and memory from later trials.
ChildExit CommandTrial::End() {
  const ChildExit exit = *child_->Wait(0);  // its process group has ended
  EndWhatIsLeft();
  // All writers have ended, so the remaining output is complete.
  TakeOutput(SIZE_MAX);
  const UseReport use = [this](const Report& report) { Add(report); };
  out_scan_.Finish(use);
  err_scan_.Finish(use);
  if (events_) events_->Finish(use);
  return exit;
}

// Each killed process hands its own children to this process.
void CommandTrial::EndWhatIsLeft() {
  for (;;) {
    const std::vector<pid_t> left = ChildrenOf(getpid());
    if (left.empty()) return;
    for (const pid_t pid : left) kill(pid, SIGKILL);
    if (waitpid(-1, nullptr, 0) < 0 && errno != EINTR) return;
  }
}

ExitReason CommandTrial::ReasonNow(const ChildExit& exit) const {
  // A stop may coincide with the end of the budget; then the trial is complete.
  if (reached_) return UnlessDiverged({});
  if (pruned_ && !g_asked_to_stop) return UnlessDiverged({kExitOk, Outcome::kPruned, "", ""});
  if (g_asked_to_stop) return {kExitTemp, Outcome::kKilled, "", "stopped on request"};
  ExitReason end = ReasonOfEnd(words_[0], exit, LastLinesPrinted(), OomKillCount() > oom_kills_before_);
  if (end.outcome == Outcome::kPlugin && !channel_.error().empty()) end.error = Printable(channel_.error(), kShownError);
  return UnlessDiverged(end);
}

// A command that logged NaN until it ended with exit code 0 fails like a plugin that reports NaN.
ExitReason CommandTrial::UnlessDiverged(const ExitReason& end) const {
  const std::string diverged = end.exit == kExitOk ? book_.Divergence() : "";
  return diverged.empty() ? end : ExitReason{kExitNan, Outcome::kNan, "", diverged};
}

std::vector<std::string> CommandTrial::LastLinesPrinted() const {
  std::vector<std::string> lines = out_scan_.LastLinesOf(kLastLines);
  for (std::string& line : err_scan_.LastLinesOf(kLastLines)) lines.push_back(std::move(line));
  return lines;
}

int CommandTrial::Finish(const ExitReason& end) {
  if (!end.error.empty()) {
    LogError("{}", end.error);
    status_.SetLine(end.error);
  }
  try {
    book_.Sync();  // a result is never on disk without its metrics
    nlohmann::json result = ToJson(book_.Result());
    Overwrite(EndNow(end), &result);
    WriteFileAtomic(AttemptFolder(WhereHeld(spec_.attempt_dir)).result(), JsonText(result, 2) + "\n");
  } catch (const std::exception& e) {
    return ExitWithoutResult(end, e, &status_);
  }
  return end.exit;
}

TrialEnd CommandTrial::EndNow(const ExitReason& end) const {
  TrialEnd told = EndOf(spec_, end);
  told.phase = kPhaseOfCommand;
  if (!words_.empty()) told.facts[kCommandLearner]["program"] = words_[0];
  told.warnings = Warnings();
  rusage below{};
  getrusage(RUSAGE_CHILDREN, &below);
  const auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6; };
  told.monitors = MonitorCost{
      0, seconds(below.ru_utime) + seconds(below.ru_stime) + static_cast<double>(ReadClock(CLOCK_PROCESS_CPUTIME_ID)) * 1e-9};
  return told;
}

std::vector<std::string> CommandTrial::Warnings() const {
  std::vector<std::string> all = book_.warnings();
  for (std::string& warning : channel_.Warnings()) all.push_back(std::move(warning));
  for (std::string& warning : measures_.Warnings()) all.push_back(std::move(warning));
  if (events_)
    for (std::string& damage : events_->damages()) all.push_back(std::move(damage));
  if (all.size() > kMostCommandWarnings) all.resize(kMostCommandWarnings);
  return all;
}

}  // namespace

int RunCommandTrial(TrialSpec spec) {
  WatchShim();
  TakeSignals();
  return ExitOf([&] {
    if (std::filesystem::exists(AttemptFolder(spec.attempt_dir).result()))
      throw std::runtime_error(
          fmt::format("attempt {} already has a result; `backplane replay OUT TRIAL` repeats the trial and keeps the result",
                      spec.attempt));
    fs::create_directories(spec.checkpoint_dir.parent_path());
    HoldFolders(spec.attempt_dir, spec.checkpoint_dir);
    // Never destroyed, because the watch of suspensions writes its status as long as the process lives.
    return (new CommandTrial(std::move(spec)))->Run();
  });
}

}  // namespace backplane
