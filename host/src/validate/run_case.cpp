#include "validate/run_case.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <new>
#include <sstream>
#include <utility>

#include "base/json_text.hpp"
#include "base/scratch_folder.hpp"
#include "plugin/loader.hpp"
#include "plugin/plugin_error.hpp"
#include "rollout/clocks.hpp"
#include "validate/doing.hpp"
#include "validate/guarded_block.hpp"
#include "validate/leave.hpp"

namespace backplane {
namespace {

// Of the process in which cases run.
struct Child {
  int pipe_end;
  CaseResult result;
  bool leaving = false;
  int64_t begin_ns;
};
Child* g_child = nullptr;

// Of a call that fails the case, whose rule is another, tells nothing.
constexpr char kMendTheCall[] = "The call itself failed, and this rule could not be tried: see what it says.";
constexpr char kMendTheCrash[] = "Run it in a debugger, with the command below and --in-process.";

// With which a process ends that leaves by exit: a destructor of the plugin's that ends it has another.
constexpr int kLeft = 83;

double SecondsSince(int64_t begin_ns) { return static_cast<double>(NowNs() - begin_ns) * 1e-9; }

void WriteAll(int fd, const std::string& text) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t n = write(fd, text.data() + done, text.size() - done);
    if (n <= 0) return;
    done += static_cast<size_t>(n);
  }
}

void Say() {
  g_child->result.seconds = SecondsSince(g_child->begin_ns);
  WriteAll(g_child->pipe_end, JsonText(ToJson(g_child->result)) + "\n");
  std::fflush(nullptr);
}

// Libraries' destructors of the C kind run after this: where they are to be seen, the process ends by itself.
void OnExit() {
  if (!g_child->leaving) {
    g_child->result.verdict = CaseVerdict::kFailed;
    g_child->result.place = LastDoing();
    g_child->result.wanted = "that the process goes on";
    g_child->result.found = "a call of exit()";
  }
  Say();
  if (!g_child->leaving) _exit(0);
}

void SetFailed(CaseResult* result, const std::string& wanted, const std::string& found) {
  result->verdict = CaseVerdict::kFailed;
  result->place = LastDoing();
  result->wanted = wanted;
  result->found = found;
}

void Try(const Case& one, const PluginInfo& info, const ValidateSetting& setting, const std::filesystem::path& folder,
         CaseResult* result) {
  try {
    Subject subject(info, setting, folder);
    one.run(subject, result);
  } catch (const CaseEnd& end) {
    const std::string note = end.result.note.empty() ? result->note : end.result.note;
    const double steps = result->steps_per_s;
    *result = end.result;
    result->note = note, result->steps_per_s = steps;
  } catch (const TrialFailure& e) {
    SetFailed(result, "a call that keeps the contract", e.what());
    result->mend = kMendTheCall;
  } catch (const PluginError& e) {
    SetFailed(result, "a plugin that can be used", e.what());
  } catch (const std::bad_alloc&) {
    SetFailed(result, "memory enough", "none left");
  } catch (const std::exception& e) {
    SetFailed(result, "no fault of the validator itself", e.what());
  } catch (...) {
    SetFailed(result, "no fault of the validator itself", "an exception that is not a std::exception");
  }
  result->name = one.name;
}

[[noreturn]] void BeChild(const std::function<void()>& work, int pipe_end, int output) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const int s : {SIGINT, SIGTERM, SIGPIPE, SIGCHLD}) signal(s, SIG_DFL);
  if (const int null = open("/dev/null", O_RDONLY | O_CLOEXEC); null >= 0) dup2(null, STDIN_FILENO);
  if (output >= 0) dup2(output, STDOUT_FILENO), dup2(output, STDERR_FILENO);
  // Never destroyed: the plugin's own handlers at exit come first, and then ours looks at it.
  g_child = new Child{pipe_end, {}, false, NowNs()};
  std::atexit(OnExit);
  TellFaultsInGuards();
  work();
  _exit(0);
}

// SIGINT and SIGTERM, while a case runs: its process and its folder go first, and then the signal does what it did before.
volatile sig_atomic_t g_stop_signal = 0;

class StopSignals {
 public:
  StopSignals() {
    g_stop_signal = 0;
    struct sigaction take {};
    take.sa_handler = [](int signal) { g_stop_signal = signal; };
    for (size_t i = 0; i < std::size(kSignals); ++i) {
      sigaction(kSignals[i], nullptr, &before_[i]);
      if (before_[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &take, nullptr);
    }
  }
  ~StopSignals() {
    for (size_t i = 0; i < std::size(kSignals); ++i) sigaction(kSignals[i], &before_[i], nullptr);
  }
  StopSignals(const StopSignals&) = delete;

 private:
  static constexpr int kSignals[] = {SIGINT, SIGTERM};
  struct sigaction before_[std::size(kSignals)];
};

// How much of its time a child has used: CPU time while it computes, however little of it a busy machine gives, and all that
// passes while it waits.
class TimeUsed {
 public:
  TimeUsed(pid_t child, double limit_s)
      : limit_ns_(static_cast<int64_t>(limit_s * 1e9)),
        window_ns_(std::min<int64_t>(limit_ns_ / 4, 1'000'000'000)),
        begin_ns_(NowNs()),
        seen_ns_(begin_ns_) {
    has_clock_ = clock_getcpuclockid(child, &clock_) == 0;
  }
  int64_t window_ms() const { return window_ns_ / 1'000'000 + 1; }
  bool IsOver() {
    // A busy machine may give 3% of a CPU for minutes; what waits uses none.
    constexpr int64_t kComputes = 100, kAtMost = 20;  // one part in 100 of a CPU; 20 times the limit, in any case
    const int64_t now = NowNs(), passed = now - seen_ns_;
    if (passed < window_ns_) return false;
    const int64_t cpu_now = CpuNs(), cpu = cpu_now - cpu_ns_;
    used_ns_ += cpu * kComputes < passed ? passed : std::min(cpu, passed);
    seen_ns_ = now, cpu_ns_ = cpu_now;
    return used_ns_ >= limit_ns_ || now - begin_ns_ >= kAtMost * limit_ns_;
  }

 private:
  int64_t CpuNs() const {
    timespec t;
    return has_clock_ && clock_gettime(clock_, &t) == 0 ? t.tv_sec * 1'000'000'000 + t.tv_nsec : cpu_ns_;
  }

  const int64_t limit_ns_, window_ns_, begin_ns_;
  int64_t seen_ns_, cpu_ns_ = 0, used_ns_ = 0;
  clockid_t clock_ = 0;
  bool has_clock_ = false;
};

// What the child said, or nothing where it takes longer than it may; its end is awaited either way.
struct Heard {
  std::string text;
  bool late = false;
  int wait_status = 0;
};

Heard Listen(pid_t child, int pipe_end, double limit_s) {
  Heard heard;
  TimeUsed time(child, limit_s);
  bool said = false, ended = false;
  while (!ended && !heard.late && g_stop_signal == 0) {
    // A signal that comes just before this waits until the next look.
    constexpr int kLookAgainMs = 100, kEndMs = 2;
    pollfd one{pipe_end, POLLIN, 0};
    const int ready =
        poll(&one, said ? 0 : 1, said ? kEndMs : static_cast<int>(std::min<int64_t>(time.window_ms(), kLookAgainMs)));
    if (said) {
      ended = waitpid(child, &heard.wait_status, WNOHANG) == child;
    } else if (ready > 0) {
      char buffer[4096];
      const ssize_t n = read(pipe_end, buffer, sizeof buffer);
      if (n > 0) heard.text.append(buffer, static_cast<size_t>(n));
      // It has closed the pipe, as it does when it ends, or may do and go on.
      said = n == 0 || (n < 0 && errno != EINTR);
      ended = said && waitpid(child, &heard.wait_status, WNOHANG) == child;
    }
    heard.late = !ended && time.IsOver();
  }
  if (!ended) {
    kill(-child, SIGKILL), kill(child, SIGKILL);
    while (waitpid(child, &heard.wait_status, 0) < 0 && errno == EINTR) {
    }
  }
  kill(-child, SIGKILL);  // what it may have left behind
  return heard;
}

// The last lines that it printed.
std::string TailOf(int output) {
  constexpr off_t kMost = 600;
  const off_t size = lseek(output, 0, SEEK_END);
  if (size <= 0) return "";
  std::string text(static_cast<size_t>(std::min(size, kMost)), '\0');
  const ssize_t n = pread(output, text.data(), text.size(), size - static_cast<off_t>(text.size()));
  text.resize(n > 0 ? static_cast<size_t>(n) : 0);
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

CaseResult ResultOf(const Case& one, const Heard& heard, const Doing& doing, const std::string& tail, double limit_s) {
  CaseResult result;
  result.name = one.name;
  const std::string what(doing.what, strnlen(doing.what, sizeof doing.what));
  const std::string fault(doing.fault, strnlen(doing.fault, sizeof doing.fault));
  result.place = what.empty() ? "the begin of the case" : what;
  result.verdict = CaseVerdict::kFailed;
  const std::string printed = tail.empty() ? "" : "; it printed: " + tail;
  if (heard.late) {
    result.wanted = fmt::format("an end within {:g} s", limit_s);
    result.found = "none" + printed;
  } else if (WIFSIGNALED(heard.wait_status) && !fault.empty()) {
    result.wanted = "nothing read or written outside a channel's rows";
    result.found = fault;
  } else if (WIFSIGNALED(heard.wait_status)) {
    const int signal = WTERMSIG(heard.wait_status);
    result.verdict = CaseVerdict::kCrashed;
    result.wanted = "that it goes on";
    result.found =
        fmt::format("{} ({}){}", sigabbrev_np(signal) ? std::string("SIG") + sigabbrev_np(signal) : std::to_string(signal),
                    strsignal(signal), printed);
    result.mend = kMendTheCrash;
  } else if (const int code = WEXITSTATUS(heard.wait_status); code != (doing.leaving ? kLeft : 0)) {
    result.wanted = "that the process goes on";
    result.found = fmt::format("its end with exit code {}{}", code, printed);
  } else if (const auto said =
                 RecordOrNothing<CaseResult>(nlohmann::json::parse(heard.text, nullptr, /*allow_exceptions=*/false))) {
    result = *said;
  } else {
    result.wanted = "that the process goes on";
    result.found = "its end with exit code 0" + printed;
  }
  return result;
}

// LibTorch takes longer to load than most cases to run. It is no code of the plugin, so this process may have it: its children
// find it there.
void LoadTorchOnce(const PluginInfo& info, const ValidateSetting& setting) {
  for (const char* name : {"OMP_NUM_THREADS", "MKL_NUM_THREADS"}) setenv(name, "1", 1);  // as in a trial
  static bool tried = false;
  if (!NeedsTorch(info, setting) || std::exchange(tried, true)) return;
  try {
    if (const std::filesystem::path lib = FindTorchLib(); !lib.empty()) PreloadTorch(lib);
  } catch (const PluginError&) {
    // Each case says so.
  }
}

struct Ended {
  Heard heard;
  std::string printed;
};

// `work` says its results through the pipe.
Ended InChild(const std::function<void()>& work, double limit_s) {
  BeginDoing();
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error(std::string("no pipe can be made: ") + std::strerror(errno));
  const int output = memfd_create("output", MFD_CLOEXEC);
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    BeChild(work, ends[1], output);
  }
  const int error = errno;
  close(ends[1]);
  if (child < 0) {
    close(ends[0]);
    if (output >= 0) close(output);
    throw std::runtime_error(std::string("no process can be started: ") + std::strerror(error));
  }
  Ended ended{Listen(child, ends[0], limit_s), ""};
  close(ends[0]);
  if (output >= 0) ended.printed = TailOf(output), close(output);
  return ended;
}

CaseResult InChild(const Case& one, const PluginInfo& info, const ValidateSetting& setting, const std::filesystem::path& folder,
                   double limit_s) {
  const Doing* doing = ShareDoing();
  const auto work = [&] {
    g_child->result.name = one.name;
    Try(one, info, setting, folder, &g_child->result);
    Say();
  };
  const Ended ended = InChild(work, limit_s);
  return ResultOf(one, ended.heard, *doing, ended.printed, limit_s);
}

// What the process of several cases says before each, and behind the last.
constexpr char kBegins[] = "begins ", kNoMore[] = "no more";

}  // namespace

void NowOfCase(const Case& one) {
  g_child->result = {};
  g_child->result.name = one.name;
  g_child->begin_ns = NowNs();
  WriteAll(g_child->pipe_end, kBegins + g_child->result.name + "\n");
}

namespace {

void RunOneByOne(const NextCase& next, const PluginInfo& info, const ValidateSetting& setting,
                 const std::filesystem::path& folder) {
  try {
    Subject subject(info, setting, folder);
    while (const Case* one = next(subject)) {
      NowOfCase(*one);
      Try(*one, info, setting, folder, &g_child->result);
      Say();
    }
  } catch (const CaseEnd& end) {
    if (end.result.bad() && !g_child->result.name.empty()) {
      const std::string name = g_child->result.name;
      g_child->result = end.result;
      g_child->result.name = name;
      Say();
    }
  } catch (...) {
    // Of `next`: there are no more.
  }
  WriteAll(g_child->pipe_end, std::string(kNoMore) + "\n");
}

}  // namespace

void LeaveByExit() {
  if (g_child == nullptr) SkipCase("ends its process, which here is everybody's (--in-process)");
  g_child->leaving = true;
  NowLeaving();
  std::exit(kLeft);
}

CaseResult RunCase(const Case& one, const PluginInfo& info, const ValidateSetting& setting, const RunCaseOptions& options) {
  const int64_t begin = NowNs();
  LoadTorchOnce(info, setting);
  CaseResult result;
  {
    const ScratchFolder folder;
    if (options.in_process) {
      BeginDoing();
      Try(one, info, setting, folder.path(), &result);
    } else {
      const StopSignals signals;
      result = InChild(one, info, setting, folder.path(), options.limit_s);
    }
  }
  if (const int signal = g_stop_signal; signal != 0) raise(signal);
  result.seconds = SecondsSince(begin);
  if ((result.bad() || result.verdict == CaseVerdict::kWarning) && result.mend.empty()) result.mend = one.mend;
  return result;
}

std::vector<CaseResult> RunCases(const NextCase& next, const PluginInfo& info, const ValidateSetting& setting, double limit_s) {
  LoadTorchOnce(info, setting);
  const ScratchFolder folder;
  const Doing* doing = ShareDoing();
  Ended ended = InChild([&] { RunOneByOne(next, info, setting, folder.path()); }, limit_s);
  std::vector<CaseResult> results;
  const Case* open = nullptr;
  std::istringstream lines(std::exchange(ended.heard.text, ""));
  for (std::string line; std::getline(lines, line);) {
    if (line == kNoMore) {
      open = nullptr;
    } else if (line.starts_with(kBegins)) {
      open = FindCase(line.substr(std::strlen(kBegins)));
    } else if (const auto said =
                   RecordOrNothing<CaseResult>(nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false))) {
      // A plugin's exit() before the first one says something too.
      if (open != nullptr && said->name == open->name) results.push_back(*said);
      open = nullptr;
    }
  }
  if (open != nullptr && !ended.heard.late) results.push_back(ResultOf(*open, ended.heard, *doing, ended.printed, limit_s));
  for (CaseResult& result : results)
    if (result.bad() && result.mend.empty()) result.mend = FindCase(result.name)->mend;
  return results;
}

}  // namespace backplane
