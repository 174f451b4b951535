// C++ authoring of monitors: derive from bp::MonitorPlugin<YourClass>, override the members you need, end the file with
// BP_PLUGINS. This header supplies the function table, the exception barrier and the handles, and gathers the host's events
// into iterations (iteration.hpp). It also contains `Metrics`, by which a plugin reports numbers to the host; learner.hpp uses
// it.
#pragma once

#include <map>
#include <span>
#include <string>
#include <type_traits>

#include "backplane/ext/verdict.h"
#include "backplane/iteration.hpp"
#include "backplane/monitor.h"
#include "backplane/plugin.hpp"

namespace bp {

// Declaration of a metric. direction: 1 up is better, -1 down, 0 neither.
struct MetricInfo {
  const char* name;  // "train/loss"
  const char* unit = nullptr;
  int direction = 0;
  const char* doc = nullptr;
};

// Numbers a plugin reports in addition to the host's own ("bp.host.metrics/1"). Has no effect if the host lacks the extension.
// [control], [monitor], also during create
class Metrics {
 public:
  // Metrics declared in the plugin's constructor are checked in experiment files before the start.
  explicit Metrics(const bp_host* host, std::span<const MetricInfo> declared = {})
      : host_(host), api_(static_cast<const bp_host_metrics_1*>(host->get_extension(host, BP_HOST_METRICS_1))) {
    for (const MetricInfo& metric : declared) Declare(metric);
  }

  void Declare(const MetricInfo& metric) {
    if (api_) handles_.try_emplace(metric.name, api_->add(host_, metric.name, metric.unit, metric.direction, metric.doc));
  }
  // Registers an undeclared name.
  void Record(const char* name, double value) {
    if (!api_) return;
    auto known = handles_.find(name);
    if (known == handles_.end()) known = handles_.try_emplace(name, api_->add(host_, name, nullptr, 0, nullptr)).first;
    if (known->second >= 0) api_->record(host_, known->second, value);
  }

 private:
  const bp_host* host_;
  const bp_host_metrics_1* api_;
  std::map<std::string, int32_t, std::less<>> handles_;
};

struct MonitorSetup {
  const bp_host* host;
  Config config;  // valid only in the constructor

  // Identity and folders of the trial. Its folders may not exist before the first iteration. [control]
  const bp_host_trial_1& Trial() const {
    const auto* const trial = static_cast<const bp_host_trial_1*>(host->get_extension(host, BP_HOST_TRIAL_1));
    if (!trial) throw Unsupported("needs the folder of its trial, which this host does not provide (" BP_HOST_TRIAL_1 ")");
    return *trial;
  }
};

class Monitor {
 public:
  explicit Monitor(const MonitorSetup& setup) : host_(setup.host) {}
  virtual ~Monitor() = default;
  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;

  virtual void OnIteration(const Iteration&) {}           // after its end, apart from queueing. [monitor]
  virtual IterationParts Wants() const { return {}; }     // other parts are not built; called again after iterations
  virtual void Sample(int64_t /*t_ns*/) {}                // about once a second. [monitor]
  virtual void Finish(const std::string& /*out_dir*/) {}  // may be called twice. [monitor]

  // Ends the trial after the iteration that runs at that time. The first reason is recorded. [monitor]
  void EndTrial(const std::string& reason) {
    if (!ends_trial_) reason_ = reason;
    ends_trial_ = true;
  }

  const bp_host* host() const { return host_; }

 protected:
  uint32_t Verdict(const char** reason) const {
    if (!ends_trial_) return BP_VERDICT_CONTINUE;
    *reason = reason_.c_str();
    return BP_VERDICT_STOP;
  }

 private:
  const bp_host* host_;
  bool ends_trial_ = false;
  std::string reason_;
};

namespace detail {
BP_NAMED(OnEvent)
BP_NAMED(Interests)

template <class P>
concept LeavesOnIteration = std::is_same_v<decltype(&P::OnIteration), void (Monitor::*)(const Iteration&)>;
template <class P>
concept LeavesSample = std::is_same_v<decltype(&P::Sample), void (Monitor::*)(int64_t)>;
template <class P>
concept LeavesFinish = std::is_same_v<decltype(&P::Finish), void (Monitor::*)(const std::string&)>;
}  // namespace detail

// The ABI side of a monitor class P, which has kAbout, kOptions (optional) and a constructor from MonitorSetup.
template <class P>
class MonitorPlugin : public Monitor {
 public:
  static constexpr uint32_t kKind = BP_KIND_MONITOR;
  using Monitor::Monitor;

  static const void* Api() {
    static constexpr bp_monitor_api api = {sizeof(bp_monitor_api),
                                           0,
                                           Create,
                                           Destroy,
                                           GetInterests,
                                           kTakesEvents ? OnEvents : nullptr,
                                           kSamples ? OnSample : nullptr,
                                           kFinishes ? OnFinish : nullptr,
                                           GetExtension};
    return &api;
  }

 private:
  // The table omits functions that P does not override, so that a monitor without effect is recognized.
  static constexpr bool kTakesEvents = !detail::LeavesOnIteration<P>, kSamples = !detail::LeavesSample<P>,
                        kFinishes = kTakesEvents || !detail::LeavesFinish<P>;

  static P* Self(bp_monitor* monitor) { return reinterpret_cast<P*>(monitor); }

  static constexpr void CheckHooks() {
    static_assert(!detail::Names_OnEvent<P> && !detail::Names_Interests<P>,
                  "expected void OnIteration(const bp::Iteration&) override; to get phases and episodes, too, override "
                  "bp::IterationParts Wants() const");
    static_assert(
        requires { static_cast<void (P::*)(const Iteration&)>(&P::OnIteration); },
        "OnIteration of a monitor should be: void OnIteration(const bp::Iteration&) override, public");
    static_assert(
        requires { static_cast<IterationParts (P::*)() const>(&P::Wants); },
        "Wants of a monitor should be: bp::IterationParts Wants() const override, public");
    static_assert(
        requires { static_cast<void (P::*)(int64_t)>(&P::Sample); },
        "Sample of a monitor should be: void Sample(int64_t t_ns) override, public");
    static_assert(
        requires { static_cast<void (P::*)(const std::string&)>(&P::Finish); },
        "Finish of a monitor should be: void Finish(const std::string& out_dir) override, public");
  }

  static bp_status Create(const bp_host* host, const bp_config* config, bp_monitor** out) noexcept {
    CheckHooks();
    return Guard(host, [&] { *out = reinterpret_cast<bp_monitor*>(new P(MonitorSetup{host, Config(config)})); });
  }
  static void Destroy(bp_monitor* monitor) noexcept { delete Self(monitor); }
  static uint64_t GetInterests(const bp_monitor* monitor) noexcept {
    if constexpr (detail::LeavesOnIteration<P>) return 0;
    return detail::EventsOf(reinterpret_cast<const P*>(monitor)->Wants());
  }
  static bp_status OnEvents(bp_monitor* monitor, const bp_event* events, uint64_t n) noexcept {
    return Guard(Self(monitor)->host(), [&] {
      const auto deliver = [&](const Iteration& iteration) { Self(monitor)->OnIteration(iteration); };
      detail::IterationGatherer& gatherer = static_cast<MonitorPlugin*>(Self(monitor))->gatherer_;
      // A newer host's events are larger: use their own size as the stride.
      const auto* at = reinterpret_cast<const char*>(events);
      for (uint64_t i = 0; i < n; ++i) gatherer.Take(*reinterpret_cast<const bp_event*>(at + i * events->struct_size), deliver);
      gatherer.Deliver(deliver);  // together with its metrics
    });
  }
  static bp_status OnSample(bp_monitor* monitor, int64_t t_ns) noexcept {
    return Guard(Self(monitor)->host(), [&] { Self(monitor)->Sample(t_ns); });
  }
  static bp_status OnFinish(bp_monitor* monitor, const char* out_dir) noexcept {
    return Guard(Self(monitor)->host(), [&] {
      static_cast<MonitorPlugin*>(Self(monitor))->gatherer_.DeliverAll([&](const Iteration& iteration) {
        Self(monitor)->OnIteration(iteration);
      });
      Self(monitor)->Finish(out_dir);
    });
  }
  static uint32_t GetVerdict(const bp_monitor* monitor, const char** reason) noexcept {
    return static_cast<const MonitorPlugin*>(reinterpret_cast<const P*>(monitor))->Verdict(reason);
  }
  static const void* GetExtension(const bp_monitor*, const char* id) noexcept {
    static constexpr bp_monitor_verdict_1 verdict = {sizeof(bp_monitor_verdict_1), 0, GetVerdict};
    return std::string_view(id) == BP_MONITOR_VERDICT_1 ? &verdict : nullptr;
  }

  detail::IterationGatherer gatherer_;
};

}  // namespace bp
