// Cases of a monitor's robustness and cost.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <memory>

#include "base/printable.hpp"
#include "rollout/clocks.hpp"
#include "validate/case_table.hpp"
#include "validate/doing.hpp"
#include "validate/use.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kBatch = 1024;

class Listening {
 public:
  explicit Listening(Subject& subject) : monitor_(subject.MakeMonitor()), folder_(subject.folder()) {}
  MonitorInstance& monitor() { return *monitor_; }
  void Events(const char* what, const std::vector<bp_event>& events) {
    NowDoing(what);
    for (size_t at = 0; at < events.size(); at += kBatch)
      Need(what, monitor_->OnEvents(events.data() + at, std::min<uint64_t>(kBatch, events.size() - at)));
  }
  void Finish(const char* what) {
    NowDoing(what);
    Need(what, monitor_->Finish(folder_.string()));
  }
  void Need(const char* call, bp_status status) {
    if (status != BP_OK) FailCall(call, fmt::format("status {}: {}", status, monitor_->TakeError()));
  }

 private:
  const std::unique_ptr<MonitorInstance> monitor_;
  const fs::path folder_;
};

// Changes the working directory meanwhile.
class WorkingIn {
 public:
  explicit WorkingIn(const fs::path& folder) : before_(open(".", O_DIRECTORY | O_CLOEXEC)) { fs::current_path(folder); }
  ~WorkingIn() {
    if (before_ < 0) return;
    if (fchdir(before_) != 0) std::perror("the working directory before");
    close(before_);
  }
  WorkingIn(const WorkingIn&) = delete;

 private:
  const int before_;
};

void NeedMonitor(Subject& subject) {
  if (const OptionInfo* option = subject.MissingOption())
    SkipCase(fmt::format("option '{0}' has no default; use --set {0}=VALUE", option->path));
}

void TakesSomething(Subject& subject, CaseResult*) {
  NeedMonitor(subject);
  Listening listening(subject);
  NowDoing("interests");
  if (!listening.monitor().TakesAnything())
    WarnCase("the monitor", "OnIteration, Sample or Finish; in C on_events, sample or finish",
             "none of them, so it receives no data");
}

void TakesAStorm(Subject& subject, CaseResult*) {
  NeedMonitor(subject);
  Listening listening(subject);
  EventStorm storm(500);
  listening.Events("on_events with thousands of events", storm.events());
  listening.Finish("finish");
}

void TakesOddEvents(Subject& subject, CaseResult*) {
  NeedMonitor(subject);
  Listening listening(subject);
  EventStorm storm(8);
  std::vector<bp_event> events = storm.events();
  std::ranges::reverse(events);
  listening.Events("on_events in the wrong order", events);
  constexpr double kOdd[] = {NAN, INFINITY, -INFINITY, -0.0, 1e308, 5e-324};
  for (size_t i = 0; i < events.size(); ++i) {
    events[i].value = kOdd[i % std::size(kOdd)];
    events[i].detail = i % 3 == 0 ? nullptr : "a detail";
    events[i].duration_ns = i % 2 == 0 ? -1 : INT64_MAX;
    if (i % 5 == 0) events[i].type = 77, events[i].phase = 99;
    if (i % 7 == 0) events[i].name = "a/name with 'quotes', \"these\" and \xc3\xa4";
  }
  listening.Events("on_events with odd numbers, unknown types and long times", events);
  NowDoing("on_events with none");
  listening.Need("on_events with none", listening.monitor().OnEvents(events.data(), 0));
  listening.Finish("finish");
}

void EndsWithoutIterations(Subject& subject, CaseResult*) {
  NeedMonitor(subject);
  Listening listening(subject);
  listening.Finish("finish before any event");
}

void FinishTwice(Subject& subject, CaseResult*) {
  NeedMonitor(subject);
  Listening listening(subject);
  listening.Events("on_events", EventStorm(3).events());
  listening.Finish("finish");
  listening.Finish("finish for the second time");
}

void BearsNoFolder(Subject& subject, CaseResult*) {
  NeedMonitor(subject);
  Listening listening(subject);
  listening.Events("on_events", EventStorm(2).events());
  NowDoing("finish with an impossible folder");
  listening.monitor().Finish("/proc/self/no/such/folder");
  NowDoing("on_events after a finish that failed");
  listening.monitor().OnEvents(EventStorm(1).events().data(), 1);
}

void AnswersSoon(Subject& subject, CaseResult* result) {
  NeedMonitor(subject);
  Listening listening(subject);
  constexpr int64_t kMostNs = 100'000'000;  // the next events come by then
  EventStorm storm(200);
  std::vector<int64_t> batches;
  for (size_t at = 0; at + 200 <= storm.events().size(); at += 200) {
    NowDoing("on_events of 200 events");
    const int64_t begin = NowNs();
    listening.Need("on_events", listening.monitor().OnEvents(storm.events().data() + at, 200));
    batches.push_back(NowNs() - begin);
    if (batches.back() > 20 * kMostNs || (batches.size() >= 3 && batches.front() > kMostNs)) break;
  }
  std::ranges::sort(batches);
  const int64_t median = batches[batches.size() / 2];
  result->note = fmt::format("{:.2f} us per event", static_cast<double>(median) / 200e3);
  if (median > kMostNs)
    FailCase("on_events of 200 events", "an end within 100 ms, because the next events come then",
             fmt::format("{:.0f} ms", static_cast<double>(median) * 1e-6));
  int64_t soonest = INT64_MAX;  // minimum, because the machine may be busy
  for (int i = 0; i < 3 && soonest > kMostNs; ++i) {
    NowDoing("sample");
    const int64_t begin = NowNs();
    listening.Need("sample", listening.monitor().Sample(begin));
    soonest = std::min(soonest, NowNs() - begin);
  }
  if (soonest > kMostNs)
    FailCase("sample", "an end within 100 ms", fmt::format("{:.0f} ms", static_cast<double>(soonest) * 1e-6));
}

void WritesInItsFolder(Subject& subject, CaseResult*) {
  NeedMonitor(subject);
  const fs::path here = subject.folder() / "working_directory";
  fs::create_directories(here);
  {
    const WorkingIn there(here);
    Listening listening(subject);
    listening.Events("on_events", EventStorm(3).events());
    listening.Finish("finish");
  }
  const bool clean = fs::is_empty(here);
  const std::string found = clean ? "" : fs::directory_iterator(here)->path().filename().string();
  if (!clean) FailCase("the working directory", "no file", "'" + found + "'");
}

// Asks as the host does, after each call of on_events and sample.
void NeedVerdict(const MonitorInstance& monitor, const bp_monitor_verdict_1& table, const std::string& when) {
  NowDoing("verdict " + when);
  const std::string place = "verdict " + when;
  const char* reason = nullptr;
  const uint32_t verdict = monitor.Verdict(table, &reason);
  if (verdict > BP_VERDICT_STOP) FailCase(place, "BP_VERDICT_CONTINUE or BP_VERDICT_STOP", std::to_string(verdict));
  if (verdict == BP_VERDICT_CONTINUE) return;
  if (reason == nullptr || *reason == '\0')
    FailCase(place, "BP_VERDICT_STOP with a reason", reason == nullptr ? "NULL" : "an empty text");
  const std::string_view text = reason;
  if (FindNotUtf8(text) < text.size()) FailCase(place, "a reason in UTF-8", "'" + Printable(text) + "'");
  if (when == "before any event")
    WarnCase(place, "BP_VERDICT_CONTINUE", "BP_VERDICT_STOP: " + Printable(text), "Decide in on_events or sample.");
}

void EndsTrialsWithReasons(Subject& subject, CaseResult*) {
  NeedMonitor(subject);
  Listening listening(subject);
  MonitorInstance& monitor = listening.monitor();
  const auto* table = static_cast<const bp_monitor_verdict_1*>(monitor.Extension(BP_MONITOR_VERDICT_1));
  if (table == nullptr) SkipCase("the monitor does not offer " BP_MONITOR_VERDICT_1);
  if (table->struct_size < sizeof *table || table->verdict == nullptr)
    FailCase(BP_MONITOR_VERDICT_1, "a table with `verdict`", "one without");
  NeedVerdict(monitor, *table, "before any event");
  EventStorm storm(500);
  for (bp_event& event : storm.events())
    if (event.type == BP_EVENT_METRIC && event.seq % 7 == 0) event.value = NAN;
  for (size_t at = 0; at < storm.events().size(); at += kBatch) {
    NowDoing("on_events");
    listening.Need("on_events", monitor.OnEvents(storm.events().data() + at, std::min(kBatch, storm.events().size() - at)));
    NeedVerdict(monitor, *table, "after events");
    NowDoing("sample");
    listening.Need("sample", monitor.Sample(NowNs()));
    NeedVerdict(monitor, *table, "after a sample");
  }
  listening.Finish("finish");
}

void InterestsAreKnown(Subject& subject, CaseResult*) {
  NeedMonitor(subject);
  Listening listening(subject);
  NowDoing("interests");
  const uint64_t wanted = listening.monitor().Interests();
  constexpr uint64_t kKnown = 1u << BP_EVENT_PHASE | 1u << BP_EVENT_ITER | 1u << BP_EVENT_EPISODE | 1u << BP_EVENT_METRIC;
  if (wanted != ~uint64_t{0} && (wanted & ~(kKnown | 0xff)) != 0)
    WarnCase("interests", "bits 1 << BP_EVENT_*", fmt::format("{:#x}", wanted),
             "Return 1 << type for each type, not the type.");
}

}  // namespace

std::vector<Case> MonitorCases() {
  return {
      {"interests", kOfMonitors, "`interests` has a bit for each type of event.", "Return 1 << BP_EVENT_ITER and so on.",
       InterestsAreKnown, kMakes | CallSet{PluginCall::kInterests}},
      {"takes-something", kOfMonitors, "A monitor accepts events or samples, or acts at the end.",
       "Override OnIteration: void OnIteration(const bp::Iteration&) override.", TakesSomething,
       kMakes | CallSet{PluginCall::kInterests}},
      {"takes-a-storm", kOfMonitors, "`on_events` accepts thousands of events, up to 1,024 per call.",
       "Limit the memory for them.", TakesAStorm, kListens},
      {"takes-odd-events", kOfMonitors,
       "Events in any order, of unknown types, with NaN, infinities and a NULL `detail` are accepted.",
       "Skip unknown types; write NaN as null.", TakesOddEvents, kListens},
      {"ends-without-iterations", kOfMonitors, "A trial that ends before its first iteration is no error.",
       "Write an empty file, or none.", EndsWithoutIterations, kListens},
      {"finish-twice", kOfMonitors, "`finish` may be called twice.", "Return BP_OK if everything is written already.",
       FinishTwice, kListens},
      {"bears-no-folder", kOfMonitors, "If its folder cannot be written, `finish` returns an error and does not crash.",
       "Check the result of open.", BearsNoFolder, kListens},
      {"answers-soon", kOfMonitors, "`on_events` and `sample` return within 100 ms, because the next events come then.",
       "Move slow work to finish or to a thread.", AnswersSoon, kListens},
      {"writes-in-its-folder", kOfMonitors, "Files are written to the folders that the host names.",
       "Use bp.host.trial/1, or finish's out_dir.", WritesInItsFolder, kListens},
      {"verdict", kOfMonitors,
       "A monitor that ends its trial (`bp.monitor.verdict/1`) gives a reason, and ends no trial before the first event.",
       "Set *reason to a sentence that stays valid until the next call.", EndsTrialsWithReasons,
       kListens | CallSet{PluginCall::kOtherExtension}},
  };
}

}  // namespace backplane
