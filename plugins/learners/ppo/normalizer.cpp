#include "normalizer.hpp"

#include <algorithm>
#include <cmath>

#include "nn/vectors.hpp"
#include "rl/saved_numbers.hpp"

namespace backplane::ppo {
namespace {
constexpr double kEpsilon = 1e-8, kClip = 10;  // of rewards
}

void RunningMeanStd::Merge(double count, const double* mean, const double* m2) {
  if (count <= 0) return;
  const double total = count_ + count;
  for (size_t i = 0; i < mean_.size(); ++i) {
    const double delta = mean[i] - mean_[i];
    const double sum = var_[i] * count_ + m2[i] + delta * delta * count_ * count / total;
    mean_[i] += delta * count / total;
    var_[i] = sum / total;
  }
  count_ = total;
}

void RunningMeanStd::Save(const bp::Writer& writer) const {
  writer.Put(count_);
  writer.PutAll(mean_.data(), mean_.size());
  writer.PutAll(var_.data(), var_.size());
}

void RunningMeanStd::Load(const bp::Reader& reader, const char* what) {
  count_ = reader.Get<double>();
  reader.GetAll(mean_.data(), mean_.size(), what);
  reader.GetAll(var_.data(), var_.size(), what);
  rl::NeedSavedFromZero(&count_, 1, what);
  rl::NeedSavedFinite(mean_.data(), mean_.size(), what);
  rl::NeedSavedFromZero(var_.data(), var_.size(), what);
}

void RunningMeanStd::Tell(const std::string& name, bp::NamedTensors* out) const {
  out->Add(name + ".mean", mean_);
  out->Add(name + ".var", var_);
  out->AddNumber(name + ".count", count_);
}

ObsNormalizer::ObsNormalizer(int64_t size, double epsilon, double clip)
    : epsilon_(epsilon), clip_(clip), stats_(size), scale_(size) {
  Freeze();
}

void ObsNormalizer::Freeze() {
  for (size_t i = 0; i < scale_.size(); ++i) scale_[i] = 1.0 / std::sqrt(stats_.var(i) + epsilon_);
}

void ObsNormalizer::Apply(const float* in, float* out) const {
  nn::Normalize(in, stats_.means(), scale_.data(), clip_, stats_.size(), out);
}

void ObsNormalizer::Merge(double count, const double* mean, const double* m2) {
  stats_.Merge(count, mean, m2);
  Freeze();
}

void ObsNormalizer::Load(const bp::Reader& reader) {
  stats_.Load(reader, "observation statistics");
  Freeze();
}

void RewardNormalizer::Step(float* rewards, const uint8_t* done) {
  const auto n = static_cast<double>(returns_.size());
  double mean = 0, m2 = 0;
  for (size_t row = 0; row < returns_.size(); ++row) {
    returns_[row] = returns_[row] * gamma_ + rewards[row];
    mean += returns_[row] / n;
  }
  for (double value : returns_) m2 += (value - mean) * (value - mean);
  stats_.Merge(n, &mean, &m2);
  const double scale = 1.0 / std::sqrt(stats_.var(0) + kEpsilon);
  for (size_t row = 0; row < returns_.size(); ++row) {
    rewards[row] = static_cast<float>(std::clamp(rewards[row] * scale, -kClip, kClip));
    if (done[row]) returns_[row] = 0;
  }
}

void RewardNormalizer::Tell(bp::NamedTensors* out) const {
  stats_.Tell("reward_norm", out);
  out->Add("reward_norm.returns", returns_);
}

void RewardNormalizer::Save(const bp::Writer& writer) const {
  stats_.Save(writer);
  writer.PutAll(returns_.data(), returns_.size());
}

void RewardNormalizer::Load(const bp::Reader& reader) {
  LoadStats(reader);
  // An evaluation may run on another number of rows: its returns start at 0.
  rl::GetAllOrPass(reader, &returns_);
  rl::NeedSavedFinite(returns_.data(), returns_.size(), "running returns");
}

}  // namespace backplane::ppo
