// The update step of augmented random search: the mean policy moves along the kept directions by their weights.
#include <algorithm>
#include <cmath>

#include "backplane/parallel.hpp"
#include "learner.hpp"
#include "nn/normals.hpp"
#include "nn/vectors.hpp"
#include "rl/finite.hpp"

namespace backplane::ars {
namespace {

double Norm(const std::vector<double>& values) {
  return std::sqrt(nn::SumOfSquares(values.data(), static_cast<int64_t>(values.size())));
}

}  // namespace

// Runs of parameters are updated in parallel, because each depends only on the directions' numbers there; a run adds them in
// the order of the kept directions.
void Learner::UpdatePolicy(const Step& step) {
  constexpr int64_t kRun = 128 * nn::kNormalsRun;
  const auto size = static_cast<int64_t>(mean_.size());
  std::vector<double> gradient(mean_.size());
  bp::ParallelFor(host(), static_cast<uint64_t>((size + kRun - 1) / kRun), [&](uint64_t run) {
    const int64_t begin = static_cast<int64_t>(run) * kRun, n = std::min(kRun, size - begin);
    std::vector<float> normals(n);
    for (size_t k = 0; k < step.kept.size() && step.sigma > 0; ++k) {
      nn::FillNormals(DirectionKey(step.kept[k]), begin, n, normals.data());
      for (int64_t i = 0; i < n; ++i) gradient[begin + i] += step.weights[k] * static_cast<double>(normals[i]);
    }
  });
  metrics_.Record("train/return_std", step.sigma);
  double moved = 0;
  if (step.sigma > 0) {
    const std::vector<double> before = mean_;
    for (size_t i = 0; i < mean_.size(); ++i) gradient[i] -= options_.weight_decay * mean_[i];
    if (options_.adam()) {
      for (double& g : gradient) g = -g;
      nn::Adam({.lr = options_.step_size, .eps = 1e-8, .step = ++adam_steps_}, gradient.data(), size, adam_m_.data(),
               adam_v_.data(), mean_.data());
    } else {
      for (size_t i = 0; i < mean_.size(); ++i) mean_[i] += options_.step_size * gradient[i];
    }
    for (size_t i = 0; i < mean_.size(); ++i) gradient[i] = mean_[i] - before[i];
    moved = Norm(gradient);
  }
  const double norm = Norm(mean_);
  rl::NeedFinite("norm of the weights", norm, kHint);
  metrics_.Record("train/update_norm", moved);
  metrics_.Record("train/weight_norm", norm);
}

}  // namespace backplane::ars
