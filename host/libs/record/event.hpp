// events.jsonl: the history of a batch, one event per line:
//   {"v":1,"seq":7,"t":1732219200.25,"boot_id":"...","kind":"attempt.end","trial_id":"...","attempt":1, ...what its kind has}
// The keys of each kind follow in alphabetical order, with the names in these structs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "record/attempt_files.hpp"
#include "record/fields.hpp"
#include "record/trial_state.hpp"

namespace backplane {

struct SessionStart {
  static constexpr char kKind[] = "session.start";
  std::string hostname;
  int64_t pid = 0;
  uint64_t pid_start = 0;  // field 22 of /proc/PID/stat
  uint64_t trials = 0;     // of the plan

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("hostname", DefaultIfMissing(self.hostname));
    visit("pid", DefaultIfMissing(self.pid));
    visit("pid_start", DefaultIfMissing(self.pid_start));
    visit("trials", DefaultIfMissing(self.trials));
  }
};

struct SessionEnd {
  static constexpr char kKind[] = "session.end";
  std::string why;  // done, interrupted, paused, refused (a check failed), folder lost

  static constexpr void Fields(auto& self, auto&& visit) { visit("why", DefaultIfMissing(self.why)); }
};

struct SweepPaused {
  static constexpr char kKind[] = "sweep.paused";
  std::string why;

  static constexpr void Fields(auto& self, auto&& visit) { visit("why", DefaultIfMissing(self.why)); }
};

// Messages to the search and its replies, in order. Replaying them into a new process restores its state. `request.op` is
//   open    {name, method, seed, direction, metric, space, pruner} -> {version, ...}
//   ask     {} -> {number, params: {path: value}}
//   report  {number, step, value} -> {prune}
//   tell    {number, state: complete|pruned|fail, value} -> {}; with at_end, the objective, if it was pruned too late
//   adopt   {params, state, value, values: [[step, value]]} -> {number}: of an earlier search, state "" without a result
// Messages and suggestions before the last `open` belong to a search that was replaced.
struct SearchMessage {
  static constexpr char kKind[] = "search.message";
  nlohmann::json request, reply;

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("reply", DefaultIfMissing(self.reply));
    visit("request", DefaultIfMissing(self.request));
  }
};

// The point created from a reply to `ask`.
struct SearchPoint {
  static constexpr char kKind[] = "search.point";
  uint64_t number = 0;
  std::string point_id;  // empty: none, for the reason in `why`
  std::string why;

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("number", DefaultIfMissing(self.number));
    visit("point_id", DefaultIfMissing(self.point_id));
    visit("why", LeftOutIfEmpty(self.why));
  }
};

// A job of this session in a cluster's queue, by the cluster's own name. A later session cancels jobs that remain.
struct EngineJob {
  static constexpr char kKind[] = "engine.job";
  std::string engine, job;  // "slurm", "4711"

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("engine", DefaultIfMissing(self.engine));
    visit("job", DefaultIfMissing(self.job));
  }
};

// The scheduler's reason for attempts that wait in a cluster's queue, from now on.
struct EngineWait {
  static constexpr char kKind[] = "engine.wait";
  std::string why;  // empty: unknown, or none waits

  static constexpr void Fields(auto& self, auto&& visit) { visit("why", DefaultIfMissing(self.why)); }
};

struct AttemptStart {
  static constexpr char kKind[] = "attempt.start";
  std::vector<int> cores;
  std::vector<std::string> gpus;  // UUIDs
  bool resumed = false;           // from a checkpoint
  bool queued = false;            // in a cluster's queue, until attempt.place

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("cores", DefaultIfMissing(self.cores));
    visit("gpus", DefaultIfMissing(self.gpus));
    visit("queued", LeftOutIfEmpty(self.queued));
    visit("resumed", DefaultIfMissing(self.resumed));
  }
};

// A node of a cluster begins an attempt, gives no sign of life any more, or gives one again.
struct AttemptMove {
  static constexpr char kKind[] = "attempt.place";
  TrialState state = TrialState::kRunning;  // or kLost
  std::string why;

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("state", self.state);
    visit("why", LeftOutIfEmpty(self.why));
  }
};

struct AttemptEnd {
  static constexpr char kKind[] = "attempt.end";
  bool adopted = false;     // a later session found its result
  std::optional<int> exit;  // absent, like the engine's other reports, if it never ran or its end was not observed
  std::optional<AttemptFiles> files;
  std::optional<std::string> host;  // node, if it ran on another machine or as a cluster job
  std::optional<std::string> memory_enforced_by;
  std::optional<Outcome> outcome;
  std::optional<uint64_t> peak_memory_bytes, peak_rss_bytes;
  std::optional<std::string> signal;        // empty: it did not end by a signal
  TrialState state = TrialState::kPlanned;  // of the trial from now on
  std::optional<double> wall_s;
  std::string why;

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("adopted", LeftOutIfEmpty(self.adopted));
    visit("exit", AbsentIfMisfit(self.exit));
    visit("files", AbsentIfMisfit(self.files));
    visit("host", AbsentIfMisfit(self.host));
    visit("memory_enforced_by", AbsentIfMisfit(self.memory_enforced_by));
    visit("outcome", AbsentIfMisfit(self.outcome));
    visit("peak_memory_bytes", AbsentIfMisfit(self.peak_memory_bytes));
    visit("peak_rss_bytes", AbsentIfMisfit(self.peak_rss_bytes));
    visit("signal", AbsentIfMisfit(self.signal));
    visit("state", self.state);
    visit("wall_s", AbsentIfMisfit(self.wall_s));
    visit("why", DefaultIfMissing(self.why));
  }
};

// Why a state changed without an attempt.
enum class StateReason {
  kDamaged = 1,  // its files have changed
  kInferred,     // another trial that needs no more memory did not fit
  kLostStart,    // the trial before it came to no end that it could start from
  kStartAgain,   // the trial before it is run again
  kTriedAgain,   // its failure may have passed
  kExtended,     // it was finished, and its budget has grown
  kWithin,       // it was to be extended, but its budget is as before
};

constexpr auto WordsOf(StateReason) {
  return std::to_array<WordOf<StateReason>>({{StateReason::kDamaged, "damaged"},
                                             {StateReason::kInferred, "inferred"},
                                             {StateReason::kLostStart, "lost_start"},
                                             {StateReason::kStartAgain, "start_again"},
                                             {StateReason::kTriedAgain, "tried_again"},
                                             {StateReason::kExtended, "extended"},
                                             {StateReason::kWithin, "within"}});
}

// A state that no attempt brought about: inferred INFEASIBLE, SKIPPED, put back to PLANNED.
struct StateChange {
  static constexpr char kKind[] = "trial.state";
  TrialState state = TrialState::kPlanned;
  std::string why;
  std::optional<StateReason> code;  // absent in older results

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("code", AbsentIfMisfit(self.code));
    visit("state", self.state);
    visit("why", DefaultIfMissing(self.why));
  }
};

// An event kind of a later version. It is skipped, because its meaning is unknown.
struct UnknownEvent {
  static constexpr char kKind[] = "";

  static constexpr void Fields(auto&, auto&&) {}
};

using EventBody = std::variant<UnknownEvent, SessionStart, SessionEnd, SweepPaused, SearchMessage, SearchPoint, EngineJob,
                               EngineWait, AttemptStart, AttemptMove, AttemptEnd, StateChange>;

inline constexpr int kEventVersion = 1;

struct Event {
  uint64_t seq = 0;
  double t = 0;  // seconds since 1970
  std::string boot_id;
  std::string trial_id;  // empty: of no trial
  unsigned attempt = 0;  // 0: of none
  EventBody body;

  bool IsOfTrial() const { return body.index() >= EventBody(AttemptStart()).index(); }

  static constexpr void Fields(auto& self, auto&& visit) {
    int version = kEventVersion;
    visit("v", version);
    if (version != kEventVersion)
      throw RecordError("is of version " + std::to_string(version) + ", this program reads " + std::to_string(kEventVersion));
    visit("seq", self.seq);
    visit("t", self.t);
    visit("boot_id", self.boot_id);
    std::string kind = std::visit([](const auto& body) { return body.kKind; }, self.body);
    visit("kind", kind);
    if constexpr (!std::is_const_v<std::remove_reference_t<decltype(self)>>) self.body = BodyOf(kind);
    visit("trial_id", LeftOutIfEmpty(self.trial_id));
    visit("attempt", LeftOutIfEmpty(self.attempt));
    if (self.IsOfTrial() && self.trial_id.empty()) throw RecordError("\"trial_id\" is missing");
    std::visit([&](auto& body) { body.Fields(body, visit); }, self.body);
  }

 private:
  static EventBody BodyOf(const std::string& kind) {
    return [&]<size_t... kIndex>(std::index_sequence<kIndex...>) {
      EventBody body;
      const auto take = [&](auto one) {
        if (kind == one.kKind) body = one;
      };
      (take(std::variant_alternative_t<kIndex, EventBody>()), ...);
      return body;
    }
    (std::make_index_sequence<std::variant_size_v<EventBody>>());
  }
};

}  // namespace backplane
