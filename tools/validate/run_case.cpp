#include "validate/run_case.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <sstream>
#include <utility>

#include "base/error_words.hpp"
#include "base/json_text.hpp"
#include "base/pipe.hpp"
#include "base/scratch_folder.hpp"
#include "plugin/loader.hpp"
#include "plugin/plugin_error.hpp"
#include "rollout/clocks.hpp"
#include "validate/case_process.hpp"
#include "validate/doing.hpp"
#include "validate/guarded_block.hpp"
#include "validate/leave.hpp"

namespace backplane {
namespace {

// State of the process that runs cases.
struct Child {
  int pipe_end;
  CaseResult result;
  bool leaving = false;
  int64_t begin_ns;
};
Child* g_child = nullptr;

// If a call fails, a case with a different rule proves nothing.
constexpr char kMendTheCall[] = "The call itself failed, so this rule was not tested; fix the error above.";
constexpr char kMendTheExit[] = "Return an error instead of ending the process.";
constexpr char kMendTheHang[] = "Run the command below in a debugger, with --in-process, and interrupt it there.";
constexpr char kMendThePlugin[] = "The plugin could not be used, so this rule was not tested.";
constexpr char kMendTheMemory[] = "This machine ran out of memory, so this rule was not tested.";
constexpr char kMendTheValidator[] = "The validator failed, so this rule was not tested; report it with the command below.";
constexpr char kMendTheCrash[] = "Run the command below in a debugger, with --in-process.";

// Exit code of a process that ends by exit. If a plugin's destructor ends it, the code differs.
constexpr int kLeft = 83;

double SecondsSince(int64_t begin_ns) { return static_cast<double>(NowNs() - begin_ns) * 1e-9; }

void Say() {
  g_child->result.seconds = SecondsSince(g_child->begin_ns);
  WriteWhole(g_child->pipe_end, JsonText(ToJson(g_child->result)) + "\n");
  std::fflush(nullptr);
}

// C destructors of libraries run after this; to test them, the process ends by itself.
void OnExit() {
  if (!g_child->leaving) {
    g_child->result.verdict = CaseVerdict::kFailed;
    g_child->result.place = LastDoing();
    g_child->result.wanted = "a running process";
    g_child->result.found = "a call of exit()";
    g_child->result.cause = kExitCause;
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
    SetFailed(result, "a call that follows the contract", e.what());
    result->mend = kMendTheCall, result->cause = kErrorCause;
  } catch (const PluginError& e) {
    SetFailed(result, "a usable plugin", e.what());
    result->mend = kMendThePlugin, result->cause = kErrorCause;
  } catch (const std::bad_alloc&) {
    SetFailed(result, "enough memory", "none left");
    result->mend = kMendTheMemory, result->cause = kErrorCause;
  } catch (const std::exception& e) {
    SetFailed(result, "no error of the validator itself", WordsOf(e));
    result->mend = kMendTheValidator, result->cause = kErrorCause;
  } catch (...) {
    SetFailed(result, "no error of the validator itself", "an exception that is not a std::exception");
    result->mend = kMendTheValidator, result->cause = kErrorCause;
  }
  result->name = one.name;
}

// Runs in the case process before its work.
void BeginChild(int pipe_end) {
  // Never destroyed: the plugin's own handlers at exit come first, and then ours looks at it.
  g_child = new Child{pipe_end, {}, false, NowNs()};
  std::atexit(OnExit);
  TellFaultsInGuards();
}

std::string SignalName(int signal) {
  const char* const name = sigabbrev_np(signal);
  return name ? std::string("SIG") + name : std::to_string(signal);
}

std::string HowLate(CallSet stuck) {
  if (stuck.empty()) return "none; the plugin's functions return, but need more time: raise --limit";
  return fmt::format("no return from {}", Word(stuck.First()));
}

CaseResult ResultOf(const Case& one, const EndedProcess& ended, double limit_s) {
  CaseResult result;
  result.name = one.name;
  const Doing& doing = *ShareDoing();
  const std::string fault(doing.fault, strnlen(doing.fault, sizeof doing.fault));
  result.place = LastDoing();
  if (result.place.empty()) result.place = "the beginning of the case";
  result.verdict = CaseVerdict::kFailed;
  const std::string printed = ended.printed.empty() ? "" : "; it printed: " + ended.printed;
  if (ended.late) {
    result.stuck = ended.stuck;
    if (!ended.stuck.empty()) result.mend = kMendTheHang, result.cause = kHangCause;
    result.wanted = fmt::format("an end within {:g} s", limit_s);
    result.found = HowLate(ended.stuck) + printed;
  } else if (WIFSIGNALED(ended.wait_status) && !fault.empty()) {
    result.wanted = "nothing read or written outside a channel's rows";
    result.found = fault;
  } else if (WIFSIGNALED(ended.wait_status)) {
    const int signal = WTERMSIG(ended.wait_status);
    result.verdict = CaseVerdict::kCrashed;
    result.wanted = "a running process";
    result.found = fmt::format("{} ({}){}", SignalName(signal), strsignal(signal), printed);
    result.mend = kMendTheCrash, result.cause = kCrashCause;
  } else if (const int code = WEXITSTATUS(ended.wait_status); code != (doing.leaving ? kLeft : 0)) {
    result.wanted = "a running process";
    result.found = fmt::format("its end with exit code {}{}", code, printed);
    result.mend = kMendTheExit, result.cause = kExitCause;
  } else if (const auto said =
                 RecordOrNothing<CaseResult>(nlohmann::json::parse(ended.heard, nullptr, /*allow_exceptions=*/false))) {
    result = *said;
  } else {
    result.wanted = "a running process";
    result.found = "its end with exit code 0" + printed;
    result.mend = kMendTheExit, result.cause = kExitCause;
  }
  return result;
}

// LibTorch takes longer to load than most cases to run. It is not the plugin's code, so this process may load it for its
// children.
void LoadTorchOnce(const PluginInfo& info, const ValidateSetting& setting) {
  for (const char* name : {"OMP_NUM_THREADS", "MKL_NUM_THREADS"}) setenv(name, "1", 1);  // as in a trial
  static bool tried = false;
  if (!NeedsTorch(info, setting) || std::exchange(tried, true)) return;
  try {
    if (const std::filesystem::path lib = FindTorchLib(); !lib.empty()) PreloadTorch(lib);
  } catch (const PluginError&) {
    // Each case reports it.
  }
}

CaseResult InChild(const Case& one, const PluginInfo& info, const ValidateSetting& setting, const std::filesystem::path& folder,
                   const ProcessLimits& limits) {
  const auto run = [&](int pipe_end) {
    BeginChild(pipe_end);
    g_child->result.name = one.name;
    Try(one, info, setting, folder, &g_child->result);
    Say();
  };
  return ResultOf(one, RunProcess(run, limits), limits.limit_s);
}

// Output of a process with several cases: a line before each, and one after the last.
constexpr char kBegins[] = "begins ", kNoMore[] = "no more";

}  // namespace

void NowOfCase(const Case& one) {
  g_child->result = {};
  g_child->result.name = one.name;
  g_child->begin_ns = NowNs();
  WriteWhole(g_child->pipe_end, kBegins + g_child->result.name + "\n");
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
    // Result of `next` if no case is left.
  }
  WriteWhole(g_child->pipe_end, std::string(kNoMore) + "\n");
}

}  // namespace

void LeaveByExit() {
  if (g_child == nullptr) SkipCase("ends its process, which runs all cases (--in-process)");
  g_child->leaving = true;
  NowLeaving();
  std::exit(kLeft);
}

CaseResult RunCase(const Case& one, const PluginInfo& info, const ValidateSetting& setting, const RunCaseOptions& options) {
  const int64_t begin = NowNs();
  LoadTorchOnce(info, setting);
  CaseResult result;
  if (options.in_process) {
    const ScratchFolder folder;
    BeginDoing();
    Try(one, info, setting, folder.path(), &result);
  } else {
    const StopSignals signals;
    const ScratchFolder folder;  // removed before the signal is raised again
    result = InChild(one, info, setting, folder.path(), {options.limit_s, options.on_slow});
  }
  result.seconds = SecondsSince(begin);
  if ((result.bad() || result.verdict == CaseVerdict::kWarning) && result.mend.empty()) result.mend = one.mend;
  return result;
}

CasesRun RunCases(const NextCase& next, const PluginInfo& info, const ValidateSetting& setting, double limit_s) {
  LoadTorchOnce(info, setting);
  const StopSignals signals;
  const ScratchFolder folder;
  const auto run = [&](int pipe_end) {
    BeginChild(pipe_end);
    RunOneByOne(next, info, setting, folder.path());
  };
  EndedProcess ended = RunProcess(run, {limit_s, {}});
  CasesRun done;
  const Case* open = nullptr;
  std::istringstream lines(std::exchange(ended.heard, ""));
  for (std::string line; std::getline(lines, line);) {
    if (line == kNoMore) {
      open = nullptr;
    } else if (line.starts_with(kBegins)) {
      open = FindCase(line.substr(std::strlen(kBegins)));
    } else if (const auto said =
                   RecordOrNothing<CaseResult>(nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false))) {
      // A plugin's exit() before the first case sends a result too.
      if (open != nullptr && said->name == open->name) done.results.push_back(*said);
      open = nullptr;
    }
  }
  done.complete = !ended.late && !StoppedBySignal();
  if (open != nullptr && done.complete) done.results.push_back(ResultOf(*open, ended, limit_s));
  for (CaseResult& result : done.results)
    if (result.bad() && result.mend.empty()) result.mend = FindCase(result.name)->mend;
  return done;
}

}  // namespace backplane
