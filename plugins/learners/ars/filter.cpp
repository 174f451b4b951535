#include "filter.hpp"

#include <algorithm>
#include <cmath>

#include "nn/vectors.hpp"
#include "rl/saved_numbers.hpp"

namespace backplane::ars {

void ObsFilter::Apply(const float* in, float* out) const {
  const auto size = static_cast<int64_t>(mean_.size());
  if (count_ < 2) {
    std::copy_n(in, size, out);
  } else {
    nn::Normalize(in, mean_.data(), scale_.data(), INFINITY, size, out);
  }
}

void ObsFilter::Merge(double count, const double* mean, const double* squares) {
  if (count <= 0) return;
  const double total = count_ + count;
  for (size_t i = 0; i < mean_.size(); ++i) {
    const double delta = mean_[i] - mean[i];
    mean_[i] = (count_ * mean_[i] + count * mean[i]) / total;
    squares_[i] += squares[i] + delta * delta * count_ * count / total;
  }
  count_ = total;
  Freeze();
}

void ObsFilter::Freeze() {
  for (size_t i = 0; i < mean_.size(); ++i) {
    const double deviation = std::sqrt(variance(static_cast<int64_t>(i)));
    scale_[i] = deviation < kLeastDeviation ? 0 : 1 / (deviation + kEpsilon);
  }
}

void ObsFilter::Save(const bp::Writer& writer) const {
  writer.Put(count_);
  writer.PutAll(mean_.data(), mean_.size());
  writer.PutAll(squares_.data(), squares_.size());
}

void ObsFilter::Tell(bp::NamedTensors* out) const {
  out->AddNumber("obs_norm.count", count_);
  out->Add("obs_norm.mean", mean_);
  out->Add("obs_norm.squares", squares_);
}

void ObsFilter::Load(const bp::Reader& reader) {
  count_ = reader.Get<double>();
  reader.GetAll(mean_.data(), mean_.size(), "observation statistics");
  reader.GetAll(squares_.data(), squares_.size(), "observation statistics");
  rl::NeedSavedFromZero(&count_, 1, "a count of observations");
  rl::NeedSavedFinite(mean_.data(), mean_.size(), "means of observations");
  rl::NeedSavedFromZero(squares_.data(), squares_.size(), "squared deviations");
  Freeze();
}

}  // namespace backplane::ars
