#include "machine/gpm.hpp"

#include <utility>

namespace backplane {
namespace {

constexpr int64_t kApart_ns = 100'000'000;

}  // namespace

Gpm::Gpm(const nvml::Calls& calls, nvml::Device device) : calls_(calls), device_(device) {
  if (!Supported()) return;
  for (nvml::GpmSample* sample : {&before_, &now_}) {
    if (calls_.gpm_alloc(sample) != nvml::kSuccess) *sample = nullptr;
  }
  request_ = std::make_unique<nvml::GpmRequest>();
}

Gpm::~Gpm() {
  for (nvml::GpmSample sample : {before_, now_}) {
    if (sample != nullptr) calls_.gpm_free(sample);
  }
}

bool Gpm::Supported() const {
  nvml::GpmSupport support{.version = nvml::kGpmVersion, .is_supported = 0};
  return calls_.gpm_support && calls_.gpm_alloc && calls_.gpm_free && calls_.gpm_sample && calls_.gpm_metrics &&
         calls_.gpm_support(device_, &support) == nvml::kSuccess && support.is_supported != 0;
}

std::optional<double> Gpm::SmUtilPct(int64_t t_ns) {
  if (before_ == nullptr || now_ == nullptr || (before_ns_ && t_ns - *before_ns_ <= kApart_ns)) return std::nullopt;
  if (!sample_.Ask(calls_.gpm_sample, device_, now_)) return std::nullopt;
  std::optional<double> pct;
  if (before_ns_) {
    *request_ = {.version = nvml::kGpmVersion, .count = 1, .first = before_, .second = now_, .metrics = {}};
    request_->metrics[0].id = nvml::kGpmSmUtil;
    if (metrics_.Ask(calls_.gpm_metrics, request_.get()) && request_->metrics[0].status == nvml::kSuccess) {
      pct = request_->metrics[0].value;
    }
  }
  std::swap(before_, now_);
  before_ns_ = t_ns;
  return pct;
}

}  // namespace backplane
