// Running statistics of observations and rewards, in double.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backplane/learner.hpp"

namespace backplane::ppo {

// Mean and population variance, merged batch by batch (Chan et al.). Starts at mean 0, variance 1, count 1e-4, as the
// OpenAI Baselines class that all PPO codes copy.
class RunningMeanStd {
 public:
  explicit RunningMeanStd(int64_t size) : mean_(size, 0.0), var_(size, 1.0) {}
  // m2: sum of squared deviations from `mean`, per element.
  void Merge(double count, const double* mean, const double* m2);
  void Save(const bp::Writer& writer) const;
  void Load(const bp::Reader& reader, const char* what);
  void Tell(const std::string& name, bp::NamedTensors* out) const;  // "NAME.mean", "NAME.var", "NAME.count"
  double mean(int64_t i) const { return mean_[i]; }
  const double* means() const { return mean_.data(); }
  double var(int64_t i) const { return var_[i]; }
  double count() const { return count_; }
  int64_t size() const { return static_cast<int64_t>(mean_.size()); }

 private:
  std::vector<double> mean_, var_;
  double count_ = 1e-4;
};

// (x - mean) / sqrt(var + epsilon), clipped, with statistics that change only in Merge.
class ObsNormalizer {
 public:
  explicit ObsNormalizer(int64_t size, double epsilon = 1e-8, double clip = 10);
  void Apply(const float* in, float* out) const;
  void Merge(double count, const double* mean, const double* m2);
  void Save(const bp::Writer& writer) const { stats_.Save(writer); }
  void Load(const bp::Reader& reader);
  const RunningMeanStd& stats() const { return stats_; }
  double epsilon() const { return epsilon_; }
  double clip() const { return clip_; }

 private:
  void Freeze();
  double epsilon_, clip_;
  RunningMeanStd stats_;
  std::vector<double> scale_;
};

// Divides by the standard deviation of the running discounted return, not centred, clipped to +-10 (SB3's VecNormalize).
class RewardNormalizer {
 public:
  RewardNormalizer(int64_t rows, double gamma) : gamma_(gamma), stats_(1), returns_(rows, 0.0) {}
  // One step of all rows, in place; `done` resets a row's running return after counting it.
  void Step(float* rewards, const uint8_t* done);
  void Save(const bp::Writer& writer) const;
  void Load(const bp::Reader& reader);
  void LoadStats(const bp::Reader& reader) { stats_.Load(reader, "reward statistics"); }
  void Tell(bp::NamedTensors* out) const;
  const RunningMeanStd& stats() const { return stats_; }

 private:
  double gamma_;
  RunningMeanStd stats_;
  std::vector<double> returns_;
};

}  // namespace backplane::ppo
