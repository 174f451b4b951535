// C++ authoring of monitors: derive from bp::MonitorPlugin<YourClass>, override what you need, end the file with BP_PLUGINS.
// The function table, the exception barrier and the handles are made here. `Metrics`, by which a plugin gives numbers back
// to the host, stands here too; learner.hpp uses it.
#pragma once

#include <initializer_list>
#include <map>
#include <span>
#include <string>

#include "backplane/monitor.h"
#include "backplane/plugin.hpp"

namespace bp {

// What a metric is. direction: 1 up is better, -1 down, 0 neither.
struct MetricInfo {
  const char* name;  // "train/loss"
  const char* unit = nullptr;
  int direction = 0;
  const char* doc = nullptr;
};

// Numbers a plugin reports beside the host's own ("bp.host.metrics/1"). Does nothing where the host lacks the extension.
// [control], [monitor], also during create
class Metrics {
 public:
  // What is declared in the plugin's constructor can be named in experiment files without a mistake: their names are checked
  // before the start.
  explicit Metrics(const bp_host* host, std::span<const MetricInfo> declared = {})
      : host_(host), api_(static_cast<const bp_host_metrics_1*>(host->get_extension(host, BP_HOST_METRICS_1))) {
    for (const MetricInfo& metric : declared) Declare(metric);
  }

  void Declare(const MetricInfo& metric) {
    if (api_) handles_.try_emplace(metric.name, api_->add(host_, metric.name, metric.unit, metric.direction, metric.doc));
  }
  // A name that nobody declared is registered now.
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
  Config config;  // valid in the constructor only
};

// The event types a monitor wants: `return bp::Interests({BP_EVENT_ITER, BP_EVENT_EPISODE});`.
constexpr uint64_t Interests(std::initializer_list<int> types) {
  uint64_t bits = 0;
  for (int type : types) bits |= uint64_t{1} << type;
  return bits;
}

class Monitor {
 public:
  explicit Monitor(const MonitorSetup& setup) : host_(setup.host) {}
  virtual ~Monitor() = default;
  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;

  virtual uint64_t Interests() const { return 0; }        // events nobody wants are never built; asked again after each batch
  virtual void OnEvent(const bp_event&) {}                // in the order of time. [monitor]
  virtual void Sample(int64_t /*t_ns*/) {}                // about once a second. [monitor]
  virtual void Finish(const std::string& /*out_dir*/) {}  // may be called twice. [monitor]

  const bp_host* host() const { return host_; }

 private:
  const bp_host* host_;
};

// The ABI side of a monitor class P, which has kAbout, kOptions (may be absent) and a constructor from MonitorSetup.
template <class P>
class MonitorPlugin : public Monitor {
 public:
  static constexpr uint32_t kKind = BP_KIND_MONITOR;
  using Monitor::Monitor;

  static const void* Api() {
    static constexpr bp_monitor_api api = {
        sizeof(bp_monitor_api), 0, Create, Destroy, GetInterests, OnEvents, OnSample, OnFinish, GetExtension};
    return &api;
  }

 private:
  static P* Self(bp_monitor* monitor) { return reinterpret_cast<P*>(monitor); }

  static constexpr void CheckHooks() {
    static_assert(
        requires { static_cast<uint64_t (P::*)() const>(&P::Interests); },
        "Interests of a monitor should be: uint64_t Interests() const override, public");
    static_assert(
        requires { static_cast<void (P::*)(const bp_event&)>(&P::OnEvent); },
        "OnEvent of a monitor should be: void OnEvent(const bp_event&) override, public");
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
  static uint64_t GetInterests(const bp_monitor* monitor) noexcept { return reinterpret_cast<const P*>(monitor)->Interests(); }
  static bp_status OnEvents(bp_monitor* monitor, const bp_event* events, uint64_t n) noexcept {
    return Guard(Self(monitor)->host(), [&] {
      // A newer host's events are larger than ours: walk by their own size.
      const auto* at = reinterpret_cast<const char*>(events);
      for (uint64_t i = 0; i < n; ++i) Self(monitor)->OnEvent(*reinterpret_cast<const bp_event*>(at + i * events->struct_size));
    });
  }
  static bp_status OnSample(bp_monitor* monitor, int64_t t_ns) noexcept {
    return Guard(Self(monitor)->host(), [&] { Self(monitor)->Sample(t_ns); });
  }
  static bp_status OnFinish(bp_monitor* monitor, const char* out_dir) noexcept {
    return Guard(Self(monitor)->host(), [&] { Self(monitor)->Finish(out_dir); });
  }
  static const void* GetExtension(const bp_monitor*, const char*) noexcept { return nullptr; }
};

}  // namespace bp
