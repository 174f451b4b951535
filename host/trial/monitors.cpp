#include "trial/monitors.hpp"

#include <algorithm>

#include "rollout/clocks.hpp"

namespace backplane {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;

}  // namespace

void MonitorHost::Add(const LoadedModule& module, const std::string& id, const InstanceOptions& options) {
  const ProcessChecksPaused paused;
  monitors_.push_back(std::make_unique<MonitorThread>(module, id, sinks_, options, names_, patience_));
}

void MonitorHost::Start() {
  for (const auto& monitor : monitors_) monitor->Start();
}

void MonitorHost::Finish(const std::filesystem::path& out_dir, const std::function<void()>& after_1s) {
  const int64_t start = NowNs();
  for (const auto& monitor : monitors_) monitor->AskToEnd(out_dir);
  const auto await = [&](int64_t until) {
    return std::all_of(monitors_.begin(), monitors_.end(),
                       [&](const auto& monitor) { return monitor->AwaitEnd(until, patience_.end_ns); });
  };
  if (await(start + std::min(kSecondNs, patience_.end_ns))) return;
  if (after_1s) after_1s();
  for (const auto& monitor : monitors_)
    if (!monitor->AwaitEnd(start + patience_.end_ns, patience_.end_ns)) monitor->LeaveBehind();
}

std::string MonitorHost::Unfinished() const {
  std::string ids;
  for (const auto& monitor : monitors_)
    if (!monitor->ended()) ids += (ids.empty() ? "" : " or ") + monitor->id();
  return ids;
}

bool MonitorHost::Wants(uint32_t type) const {
  return std::any_of(monitors_.begin(), monitors_.end(), [&](const auto& monitor) { return monitor->Wants(type); });
}

void MonitorHost::Post(bp_event event, const std::string& name, const std::string& detail) {
  if (!Wants(event.type)) return;
  event.struct_size = sizeof event;
  if (event.t_ns == 0) event.t_ns = NowNs();
  {
    const std::lock_guard lock(mutex_);
    event.seq = seq_++;
    event.name = names_->insert(name).first->c_str();
  }
  for (const auto& monitor : monitors_)
    if (monitor->Wants(event.type)) monitor->Post(event, detail);
}

void MonitorHost::PostTogether(const std::vector<NamedEvent>& events) {
  std::vector<bp_event> named;
  {
    const std::lock_guard lock(mutex_);
    for (const NamedEvent& one : events) {
      bp_event& event = named.emplace_back(one.event);
      event.struct_size = sizeof event;
      if (event.t_ns == 0) event.t_ns = NowNs();
      event.seq = seq_++;
      event.name = names_->insert(one.name).first->c_str();
    }
  }
  for (const auto& monitor : monitors_) monitor->PostTogether(named);
}

void MonitorHost::PostSpans(std::vector<bp_event> events, uint64_t lost) {
  {
    const std::lock_guard lock(mutex_);
    lost_ += lost;
    for (bp_event& event : events) {
      event.struct_size = sizeof event;
      event.seq = seq_++;
    }
  }
  for (const auto& monitor : monitors_)
    if (monitor->Wants(BP_EVENT_PHASE)) monitor->PostSpans(events);
}

uint64_t MonitorHost::dropped() const {
  uint64_t sum = 0;
  for (const auto& monitor : monitors_) sum += monitor->dropped();
  const std::lock_guard lock(mutex_);
  return sum + lost_;
}

double MonitorHost::cpu_s() const {
  int64_t sum = 0;
  for (const auto& monitor : monitors_) sum += monitor->cpu_ns();
  return static_cast<double>(sum) * 1e-9;
}

std::optional<EndedBy> MonitorHost::Verdict() const {
  for (const auto& monitor : monitors_)
    if (auto verdict = monitor->verdict()) return verdict;
  return std::nullopt;
}

std::vector<std::string> MonitorHost::warnings() const {
  std::vector<std::string> all;
  for (const auto& monitor : monitors_) {
    const std::vector<std::string> some = monitor->warnings();
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

}  // namespace backplane
