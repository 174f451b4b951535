#include "trial/monitors.hpp"

#include <fmt/format.h>

#include <chrono>

#include "rollout/clocks.hpp"

namespace backplane {
namespace {
constexpr auto kBatchEvery = std::chrono::milliseconds(100);
constexpr int64_t kSampleEveryNs = 1'000'000'000;
constexpr size_t kQueueLimit = 8192;
constexpr size_t kReserved = 1024;  // room that EPISODE and METRIC events may not take
}  // namespace

MonitorHost::~MonitorHost() {
  if (thread_.joinable()) {
    {
      std::lock_guard lock(mutex_);
      stop_ = true;
    }
    wake_.notify_all();
    thread_.join();
  }
  for (Monitor& monitor : monitors_)
    if (monitor.api->destroy != nullptr) monitor.api->destroy(monitor.instance);
}

void MonitorHost::Add(const LoadedModule& module, const std::string& id, const InstanceOptions& options) {
  Monitor monitor{std::make_unique<HostServices>(id, &sinks_), module.api<bp_monitor_api>(id), nullptr, 0};
  const OptionView view(options.options, options.origin, options.prefix);
  const bp_status status = CallPlugin(monitor.services->plugin_id(), [&] {
    return monitor.api->create(monitor.services->get(), view.get(), &monitor.instance);
  });
  if (status != BP_OK) throw TrialFailure(status, id, "create: " + monitor.services->TakeError());
  if (monitor.api->interests != nullptr) monitor.interests = monitor.api->interests(monitor.instance);
  monitors_.push_back(std::move(monitor));
  CollectInterests();
}

void MonitorHost::CollectInterests() {
  uint64_t all = 0;
  for (const Monitor& monitor : monitors_) all |= monitor.on ? monitor.interests : 0;
  interests_ = all;
}

template <class Function>
void MonitorHost::Call(Monitor& monitor, const char* doing, Function&& function) {
  std::string why;
  try {
    if (CallPlugin(monitor.services->plugin_id(), function) == BP_OK) return;
    why = monitor.services->TakeError();
  } catch (const TrialFailure& e) {
    why = e.what();
  }
  monitor.on = false;
  warnings_.push_back(fmt::format("{} was switched off: {}: {}", monitor.services->plugin_id(), doing, why));
  if (sinks_.log) sinks_.log(monitor.services->plugin_id(), BP_LOG_WARN, warnings_.back());
}

void MonitorHost::Start() {
  if (!monitors_.empty()) thread_ = std::thread([this] { Work(); });
}

void MonitorHost::Post(bp_event event, const std::string& name, const std::string& detail) {
  if (!Wants(event.type)) return;
  std::lock_guard lock(mutex_);
  const bool droppable = event.type == BP_EVENT_EPISODE || event.type == BP_EVENT_METRIC;
  if (queue_.size() - spans_waiting_ >= (droppable ? kQueueLimit - kReserved : kQueueLimit)) {
    ++dropped_;
    return;
  }
  event.struct_size = sizeof event;
  if (event.t_ns == 0) event.t_ns = NowNs();
  event.seq = seq_++;
  event.name = names_.insert(name).first->c_str();
  queue_.push_back({event, detail});
}

void MonitorHost::PostSpans(const std::vector<bp_event>& events, uint64_t lost) {
  std::lock_guard lock(mutex_);
  dropped_ += lost;
  for (const bp_event& event : events) {
    if (spans_waiting_ >= kSpanLimit) {
      ++dropped_;
      continue;
    }
    queue_.push_back({event, ""});
    queue_.back().event.struct_size = sizeof event;
    queue_.back().event.seq = seq_++;
    ++spans_waiting_;
  }
}

void MonitorHost::Work() {
  int64_t next_sample = NowNs();
  for (;;) {
    std::vector<Stored> events;
    bool stop;
    {
      std::unique_lock lock(mutex_);
      wake_.wait_for(lock, kBatchEvery, [this] { return stop_; });
      events.swap(queue_);
      spans_waiting_ = 0;
      stop = stop_;
    }
    Deliver(events);
    const int64_t now = NowNs();
    if (now >= next_sample || stop) {
      next_sample = now + kSampleEveryNs;
      for (Monitor& monitor : monitors_)
        if (monitor.on && monitor.api->sample != nullptr)
          Call(monitor, "sample", [&] { return monitor.api->sample(monitor.instance, now); });
    }
    if (stop) break;
  }
  cpu_ns_ += ThreadCpuNs();
}

void MonitorHost::Deliver(const std::vector<Stored>& events) {
  for (Monitor& monitor : monitors_) {
    if (!monitor.on || monitor.api->on_events == nullptr) continue;
    std::vector<bp_event> batch;
    for (const Stored& stored : events) {
      if ((monitor.interests & (uint64_t{1} << stored.event.type)) == 0) continue;
      batch.push_back(stored.event);
      batch.back().detail = stored.detail.empty() ? nullptr : stored.detail.c_str();
    }
    if (batch.empty()) continue;
    Call(monitor, "on_events", [&] {
      const bp_status status = monitor.api->on_events(monitor.instance, batch.data(), batch.size());
      if (status == BP_OK && monitor.api->interests != nullptr) monitor.interests = monitor.api->interests(monitor.instance);
      return status;
    });
  }
  CollectInterests();
}

void MonitorHost::Finish(const std::filesystem::path& out_dir) {
  if (thread_.joinable()) {
    {
      std::lock_guard lock(mutex_);
      stop_ = true;
    }
    wake_.notify_all();
    thread_.join();
  }
  const int64_t before_ns = ThreadCpuNs();
  for (Monitor& monitor : monitors_)
    if (monitor.on && monitor.api->finish != nullptr)
      Call(monitor, "finish", [&] { return monitor.api->finish(monitor.instance, out_dir.c_str()); });
  cpu_ns_ += ThreadCpuNs() - before_ns;
}

}  // namespace backplane
