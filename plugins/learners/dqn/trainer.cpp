#include "trainer.hpp"

#include <algorithm>
#include <cmath>

#include "nn/vectors.hpp"
#include "off_policy/twin_critics.hpp"

namespace backplane::dqn {

template <class T>
Trainer<T>::Trainer(const Net& net, const TrainerOptions& options, const Parallel& parallel, const std::string& hint)
    : net_(net),
      options_(options),
      parallel_(parallel),
      optimizer_(net.size, hint),
      target_(static_cast<size_t>(net.size)),
      values_(static_cast<size_t>(net.choices)),
      target_values_(static_cast<size_t>(net.choices)) {}

template <class T>
void Trainer<T>::Refresh(bool copy_target) {
  if (copy_target) std::copy_n(optimizer_.params(), net_.size, target_.data());
  weights_.Pack(net_.tower, optimizer_.params(), true);
  target_weights_.Pack(net_.tower, target_.data(), false);
}

template <class T>
void Trainer<T>::UpdateTarget() {
  nn::Mix(options_.tau, optimizer_.params(), net_.size, target_.data());
  target_weights_.Pack(net_.tower, target_.data(), false);
}

template <class T>
void Trainer<T>::Evaluate(const PackedTower<T>& weights, const T* params, const std::vector<T>& x, int64_t n,
                          TowerWork<T>* work) const {
  work->Reserve(net_.tower, n, true);
  Forward(net_.tower, weights, params, x.data(), n, work);
}

template <class T>
void Trainer<T>::Targets(const Batch<T>& batch) {
  const int64_t width = net_.tower.head.out;
  Grow(&y_, batch.n);
  for (int64_t i = 0; i < batch.n; ++i) {
    const T* mask = net_.masked ? &batch.next_action[i * net_.stored() + 1] : nullptr;
    Values(net_, &target_work_.head[i * width], target_values_.data());
    if (options_.double_q) Values(net_, &next_work_.head[i * width], values_.data());
    const int64_t best = Best(options_.double_q ? values_.data() : target_values_.data(), mask, net_.choices);
    y_[i] = batch.reward[i] + batch.discount[i] * (best < 0 ? T(0) : target_values_[best]);
  }
}

// The loss is the mean of weight * Huber(Q - y), which is quadratic up to 1. Leaves its derivative in work_.d_head.
template <class T>
UpdateStats Trainer<T>::Loss(const Batch<T>& batch) {
  const int64_t width = net_.tower.head.out;
  const T share = T(1) / static_cast<T>(batch.n), mean = T(1) / static_cast<T>(net_.choices);
  std::fill_n(work_.d_head.data(), batch.n * width, T(0));
  UpdateStats stats{};
  for (int64_t i = 0; i < batch.n; ++i) {
    const auto choice = static_cast<int64_t>(batch.action[i * net_.stored()]);
    Values(net_, &work_.head[i * width], values_.data());
    const T weight = batch.weight.empty() ? T(1) : batch.weight[i], error = values_[choice] - y_[i], size = std::abs(error);
    errors_[i] = size;
    stats.loss += static_cast<double>(weight * (size < 1 ? error * error / 2 : size - T(.5)));
    stats.q += static_cast<double>(values_[choice]);
    const T d = weight * std::clamp(error, T(-1), T(1)) * share;
    T* const d_head = &work_.d_head[i * width];
    d_head[choice] += d;
    if (!net_.dueling) continue;
    for (int64_t k = 0; k < net_.choices; ++k) d_head[k] -= d * mean;
    d_head[net_.choices] = d;
  }
  stats.loss /= static_cast<double>(batch.n), stats.q /= static_cast<double>(batch.n);
  return stats;
}

template <class T>
UpdateStats Trainer<T>::FusedGradient(const Batch<T>& batch) {
  parallel_(options_.double_q ? 3 : 2, [&](uint64_t which) {
    if (which == 0) Evaluate(weights_, optimizer_.params(), batch.obs, batch.n, &work_);
    if (which == 1) Evaluate(target_weights_, target_.data(), batch.next_obs, batch.n, &target_work_);
    if (which == 2) Evaluate(weights_, optimizer_.params(), batch.next_obs, batch.n, &next_work_);
  });
  Targets(batch);
  const UpdateStats stats = Loss(batch);
  std::fill_n(optimizer_.gradient(), net_.size, T(0));
  Backward<T>(net_.tower, weights_, batch.obs.data(), nullptr, batch.n, &work_, optimizer_.gradient());
  return stats;
}

template <class T>
UpdateStats Trainer<T>::Update(const Batch<T>& batch) {
  errors_.resize(static_cast<size_t>(batch.n));
  const UpdateStats stats =
      gradients_ ? gradients_->Compute(batch, optimizer_.params(), target_.data(), optimizer_.gradient(), errors_.data())
                 : FusedGradient(batch);
  Descend(options_.lr, options_.grad_clip, stats.loss, parallel_, &optimizer_);
  weights_.Pack(net_.tower, optimizer_.params(), true);
  ++updates_;
  return stats;
}

template class Trainer<float>;
template class Trainer<double>;

}  // namespace backplane::dqn
