// Running statistics of observations, as version 2 of the method has them (Mania et al., arXiv 1803.07055).
#pragma once

#include <cstdint>
#include <vector>

#include "backplane/learner.hpp"

namespace backplane::ars {

// (x - mean) / (deviation + 1e-8) with the unbiased deviation; 0 for deviations below 1e-7. Copies the
// input until two observations were merged. Only Merge and Load change it.
class ObsFilter {
 public:
  static constexpr double kEpsilon = 1e-8, kLeastDeviation = 1e-7;

  explicit ObsFilter(int64_t size) : mean_(size), squares_(size), scale_(size) {}
  void Apply(const float* in, float* out) const;  // [size] each
  // Takes in `count` observations given by their mean and the sums of their squared deviations, each [size].
  void Merge(double count, const double* mean, const double* squares);
  void Save(const bp::Writer& writer) const;
  void Load(const bp::Reader& reader);
  void Tell(bp::NamedTensors* out) const;
  double count() const { return count_; }
  double mean(int64_t i) const { return mean_[i]; }
  double squares(int64_t i) const { return squares_[i]; }
  double variance(int64_t i) const { return squares_[i] / (count_ - 1); }

 private:
  void Freeze();
  double count_ = 0;
  std::vector<double> mean_, squares_, scale_;
};

}  // namespace backplane::ars
