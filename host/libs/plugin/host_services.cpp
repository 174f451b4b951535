#include "plugin/host_services.hpp"

#include <string_view>
#include <utility>

namespace backplane {
namespace {

HostServices* Self(const bp_host* host) { return static_cast<HostServices*>(host->impl); }

void RecordFact(const bp_host* host, const char* key, const char* value) noexcept {
  const HostServices& self = *Self(host);
  if (!key || !value) return;
  try {
    self.sinks().fact(self.plugin_id(), key, value);
  } catch (...) {
    // Out of memory: the trial continues without the line in its record.
  }
}

void RunParallel(const bp_host* host, uint64_t n, void (*piece)(void*, uint64_t), void* context) noexcept {
  Self(host)->sinks().parallel(n, piece, context);
}

const void* OpenPart(const bp_host* host, const char* name, const char** borrow_why_not) noexcept {
  return Self(host)->OpenPart(name, borrow_why_not);
}

constexpr bp_host_facts_1 kFacts = {sizeof(bp_host_facts_1), 0, RecordFact};
constexpr bp_host_parallel_1 kParallel = {sizeof(bp_host_parallel_1), 0, RunParallel};

constexpr bp_host_part_1 kPart = {sizeof(bp_host_part_1), 0, OpenPart};

constexpr HostService kServices[] = {
    {BP_HOST_ENV_1, [](const HostServices& of) -> const void* { return of.env(); }},
    {BP_HOST_FACTS_1, [](const HostServices& of) -> const void* { return of.sinks().fact ? &kFacts : nullptr; }},
    {BP_HOST_FILE_1, [](const HostServices& of) -> const void* { return of.files(); }},
    {BP_HOST_GPUS_1, [](const HostServices& of) -> const void* { return of.sinks().gpus; }},
    {BP_HOST_METRICS_1, [](const HostServices& of) -> const void* { return of.sinks().metrics; }},
    {BP_HOST_PARALLEL_1, [](const HostServices& of) -> const void* { return of.sinks().parallel ? &kParallel : nullptr; }},
    {BP_HOST_PART_1, [](const HostServices& of) -> const void* { return of.sinks().part ? &kPart : nullptr; }},
    {BP_HOST_PHASE_1, [](const HostServices& of) -> const void* { return of.sinks().phase; }},
    {BP_HOST_SHARED_1, [](const HostServices& of) -> const void* { return of.shared(); }},
    {BP_HOST_TRIAL_1, [](const HostServices& of) -> const void* { return of.sinks().trial; }},
};

}  // namespace

std::span<const HostService> HostServiceTable() { return kServices; }

HostServices::HostServices(std::string plugin_id, const HostSinks* sinks)
    : plugin_id_(std::move(plugin_id)), sinks_(sinks), host_{sizeof(bp_host), BP_ABI_MINOR, this, Extension, Log, Fail,
                                                             Cancelled} {}

std::string HostServices::TakeError() {
  const std::lock_guard lock(mutex_);
  return error_.empty() ? "no reason given" : std::exchange(error_, {});
}

bool HostServices::HasError() {
  const std::lock_guard lock(mutex_);
  return !error_.empty();
}

const void* HostServices::OpenPart(const char* name, const char** borrow_why_not) noexcept {
  const char* why_not = "out of memory";
  try {
    try {
      return sinks_->part(plugin_id_, name ? name : "");
    } catch (const std::exception& e) {
      part_error_ = e.what();
      why_not = part_error_.c_str();
    }
  } catch (...) {
    // Out of memory.
  }
  if (borrow_why_not) *borrow_why_not = why_not;
  return nullptr;
}

bp_status HostServices::FailService(ServiceError error) {
  service_error_ = std::move(error);
  return Fail(&host_, service_error_.status, service_error_.sentence.c_str());
}

void HostServices::UseGpu(const bp_host* host) noexcept {
  const HostServices& self = *Self(host);
  try {
    if (self.sinks_->uses_gpu) self.sinks_->uses_gpu(self.plugin_id_);
  } catch (...) {
    // Out of memory: the trial is rejected, because its GPU counts as unused.
  }
}

void* HostServices::MetricsImpl(const bp_host* host) { return Self(host)->sinks_->metrics_impl; }

void* HostServices::FilesImpl(const bp_host* host) { return Self(host)->files_impl_.get(); }

void* HostServices::SharedImpl(const bp_host* host) { return Self(host)->shared_impl_.get(); }

void* HostServices::EnvImpl(const bp_host* host) { return Self(host)->env_impl_; }

const void* HostServices::Extension(const bp_host* host, const char* id) noexcept {
  const std::string_view wanted = id ? id : "";
  for (const HostService& service : kServices) {
    if (wanted == service.id) return service.of(*Self(host));
  }
  return nullptr;
}

void HostServices::Log(const bp_host* host, int32_t severity, const char* utf8) noexcept {
  const HostServices& self = *Self(host);
  if (!utf8 || !self.sinks_->log) return;
  try {
    self.sinks_->log(self.plugin_id_, severity, utf8);
  } catch (...) {
    // A line that cannot be written must not end the trial, and no exception may enter a plugin.
  }
}

bp_status HostServices::Fail(const bp_host* host, bp_status code, const char* utf8) noexcept {
  HostServices& self = *Self(host);
  try {
    const std::lock_guard lock(self.mutex_);
    self.error_ = utf8 ? utf8 : "";
  } catch (...) {
    // Out of memory: the code still identifies the class of the failure.
  }
  return code;
}

int32_t HostServices::Cancelled(const bp_host* host) noexcept {
  const std::atomic<bool>* cancelled = Self(host)->sinks_->cancelled;
  return cancelled && cancelled->load(std::memory_order_relaxed) ? 1 : 0;
}

}  // namespace backplane
