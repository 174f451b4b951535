#include "trial/metrics.hpp"

#include <cmath>
#include <cstring>

#include "base/bounded.hpp"
#include "plugin/host_services.hpp"

namespace backplane {
namespace {

MetricsHub::Scope* ScopeOf(const bp_host* host) { return static_cast<MetricsHub::Scope*>(HostServices::MetricsImpl(host)); }

// Limits per metric, because every record contains its texts. Monitors have the same limit separately, so they take no slot
// from the learner.
constexpr size_t kMaxMetrics = 10'000, kMaxName = 256, kMaxUnit = 64;

int32_t AddMetric(const bp_host* host, const char* name, const char* unit, int32_t direction, const char* doc) noexcept try {
  if (name == nullptr || *name == '\0' || std::strlen(name) > kMaxName) return BP_E_INVALID_ARG;
  MetricsHub::Scope* scope = ScopeOf(host);
  MetricsHub::Metric metric;
  metric.name = name;
  metric.unit = Bounded(unit ? unit : "", kMaxUnit);
  metric.doc = Bounded(doc ? doc : "");
  metric.direction = direction;
  return scope->hub->Add(scope->machine, metric);
} catch (...) {
  return BP_E_OOM_HOST;
}

void RecordMetric(const bp_host* host, int32_t handle, double value) {
  MetricsHub::Scope* scope = ScopeOf(host);
  scope->machine ? scope->hub->RecordSince(handle, value) : scope->hub->Record(handle, value);
}

}  // namespace

const bp_host_metrics_1* MetricsHub::Api() {
  static const bp_host_metrics_1 api{sizeof(bp_host_metrics_1), 0, AddMetric, RecordMetric};
  return &api;
}

int32_t MetricsHub::Add(bool machine, const Metric& metric) {
  std::lock_guard lock(mutex_);
  std::unordered_map<std::string, int32_t>& handles = handles_[machine ? 1 : 0];
  if (const auto known = handles.find(metric.name); known != handles.end()) return known->second;
  if (handles.size() >= kMaxMetrics) return BP_E_INVALID_ARG;
  const auto handle = static_cast<int32_t>(entries_.size());
  entries_.push_back({metric, machine, std::nullopt});
  handles.emplace(metric.name, handle);
  return handle;
}

int32_t MetricsHub::Register(HostMetricRow metric) {
  const HostMetric& row = kHostMetrics[metric.index];
  std::optional<int32_t>& handle = of_host_[metric.index];
  if (!handle)
    handle = Add(row.of_machine, {std::string(row.name), std::string(row.unit), std::string(row.doc), row.direction});
  return *handle;
}

void MetricsHub::Record(int32_t handle, double value) {
  std::lock_guard lock(mutex_);
  if (handle < 0 || static_cast<size_t>(handle) >= entries_.size()) return;
  entries_[handle].metric.sum += value;
  entries_[handle].metric.n += 1;
}

void MetricsHub::Watch(const PhaseClock* control) {
  std::lock_guard lock(mutex_);  // monitors may already record
  control_ = control;
}

void MetricsHub::RecordSince(int32_t handle, double value) {
  Record(handle, value);
  std::lock_guard lock(mutex_);
  if (control_ == nullptr || handle < 0 || static_cast<size_t>(handle) >= entries_.size() || !std::isfinite(value)) return;
  std::optional<GroupMeans>& means = entries_[handle].by_group;
  if (!means) means.emplace();
  means->Add(value, GroupTimesOf(*control_));
}

std::map<std::string, GroupMeans> MetricsHub::ByGroup() {
  std::lock_guard lock(mutex_);
  std::map<std::string, GroupMeans> out;
  for (const Entry& entry : entries_)
    if (entry.by_group) out.emplace(entry.metric.name, *entry.by_group);
  return out;
}

std::vector<MetricsHub::Metric> MetricsHub::Registered() {
  std::lock_guard lock(mutex_);
  std::vector<Metric> out;
  for (const Entry& entry : entries_) out.push_back(entry.metric);
  return out;
}

std::map<std::string, double> MetricsHub::Take(bool machine) {
  std::lock_guard lock(mutex_);
  std::map<std::string, double> out;
  for (Entry& entry : entries_) {
    if (entry.machine != machine || entry.metric.n == 0) continue;
    out[entry.metric.name] = entry.metric.sum / static_cast<double>(entry.metric.n);
    entry.metric.sum = 0;
    entry.metric.n = 0;
  }
  return out;
}

}  // namespace backplane
