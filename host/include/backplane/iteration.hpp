// An iteration for monitors, gathered from the host's events. Part of monitor.hpp, which authors include.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "backplane/monitor.h"

namespace bp {

// Names live until the monitor's end.
struct IterationMetric {
  std::string_view name;  // as in metrics.jsonl: "return", "ep/length", "eval/return", "train/policy_loss", "sps"
  double value;           // NaN if it was not finite
  bool of_machine;        // differs between equal trials, like a speed
};
struct IterationPhase {
  uint32_t thread;        // 0: the control thread
  std::string_view name;  // phases.h
  int64_t begin_ns, duration_ns;
  uint64_t spans;  // merged into this one
};
struct IterationEpisode {
  uint64_t row;  // or the candidate
  double episode_return;
};

// Parts of an iteration that a monitor requests in addition to number, steps and times.
struct IterationParts {
  bool metrics = true, phases = false, episodes = false;
};

struct Iteration {
  uint64_t number = 0;     // 0: the warm-up
  uint64_t env_steps = 0;  // of the trial so far
  int64_t end_ns = 0;      // steady clock
  int64_t duration_ns = 0;
  double sps = 0;  // env steps per second
  // False: no iteration has ended. Then these are the metrics of the evaluation before the first one or, at the very end,
  // phases and episodes of an interrupted one.
  bool ended = false;

  std::vector<IterationMetric> metrics;
  std::vector<IterationPhase> phases;  // thread after thread, each in the order of time
  std::vector<IterationEpisode> episodes;
  uint64_t left_out = 0;  // phases and episodes beyond the 131,072 kept of each

  double seconds() const { return static_cast<double>(duration_ns) * 1e-9; }
  // A metric by name; absent if this iteration has none, like the metrics of an evaluation that was not due.
  std::optional<double> Metric(std::string_view name) const {
    for (const IterationMetric& metric : metrics)
      if (metric.name == name) return metric.value;
    return std::nullopt;
  }
};

namespace detail {

constexpr uint64_t EventsOf(const IterationParts& parts) {
  return uint64_t{1} << BP_EVENT_ITER | uint64_t{parts.metrics} << BP_EVENT_METRIC | uint64_t{parts.phases} << BP_EVENT_PHASE |
         uint64_t{parts.episodes} << BP_EVENT_EPISODE;
}

// PHASE and EPISODE events precede the ITER that they belong to, in any number of batches; METRIC events follow it in its
// batch.
class IterationGatherer {
 public:
  template <class OnIteration>
  void Take(const bp_event& event, OnIteration&& on_iteration) {
    const char* const name = event.name ? event.name : "";
    switch (event.type) {
      case BP_EVENT_PHASE:
        if (HasRoom(next_.phases))
          next_.phases.push_back({event.instance, name, event.t_ns - event.duration_ns, event.duration_ns, event.count});
        break;
      case BP_EVENT_EPISODE:
        if (HasRoom(next_.episodes)) next_.episodes.push_back({event.instance, event.value});
        break;
      case BP_EVENT_ITER:
        Deliver(on_iteration);
        now_ = std::exchange(next_, {});
        Begin(event);
        now_.duration_ns = event.duration_ns, now_.sps = event.value, now_.ended = true;
        break;
      case BP_EVENT_METRIC:
        if (begun_ && event.iteration != now_.number) Deliver(on_iteration);
        if (!begun_) Begin(event);
        now_.metrics.push_back({name, event.value, event.instance == BP_METRIC_MACHINE});
        break;
      default: break;
    }
  }
  // Delivers the iteration in progress, if any.
  template <class OnIteration>
  void Deliver(OnIteration&& on_iteration) {
    if (!std::exchange(begun_, false)) return;
    const Iteration whole = std::exchange(now_, {});
    on_iteration(whole);
  }
  // Also delivers the events of an iteration that will not end.
  template <class OnIteration>
  void DeliverAll(OnIteration&& on_iteration) {
    Deliver(on_iteration);
    const Iteration rest = std::exchange(next_, {});
    if (!rest.phases.empty() || !rest.episodes.empty() || rest.left_out > 0) on_iteration(rest);
  }

 private:
  static constexpr size_t kMost = 1 << 17;
  template <class T>
  bool HasRoom(const std::vector<T>& list) {
    if (list.size() < kMost) return true;
    ++next_.left_out;
    return false;
  }
  void Begin(const bp_event& event) {
    begun_ = true;
    now_.number = event.iteration, now_.env_steps = event.env_steps, now_.end_ns = event.t_ns;
  }

  Iteration now_, next_;  // the one whose metrics arrive, and the events of the next one
  bool begun_ = false;
};

}  // namespace detail
}  // namespace bp
