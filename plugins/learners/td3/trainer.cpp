#include "trainer.hpp"

#include <algorithm>

#include "nn/vectors.hpp"

namespace backplane::td3 {

template <class T>
Trainer<T>::Trainer(const Net& net, const TrainerOptions& options, const Parallel& parallel, const std::string& hint)
    : net_(net),
      options_(options),
      parallel_(parallel),
      actor_(net.actor_size, hint),
      critics_(net, parallel, hint),
      actor_target_(static_cast<size_t>(net.actor_size)) {}

template <class T>
void Trainer<T>::CopyActorTarget() {
  std::copy_n(actor_.params(), net_.actor_size, actor_target_.data());
}

template <class T>
void Trainer<T>::Refresh(bool copy_targets) {
  if (copy_targets) CopyActorTarget();
  actor_weights_.Pack(net_.actor, actor_.params(), true);
  actor_target_weights_.Pack(net_.actor, actor_target_.data(), false);
  critics_.Refresh(copy_targets);
}

// The target actor's actions with clipped noise.
template <class T>
void Trainer<T>::ChooseNext(const Batch<T>& batch, const T* noise) {
  const int64_t k = net_.actions, size = batch.n * k;
  Grow(&next_.action, size);
  next_.work.Reserve(net_.actor, std::min(batch.n, kBlock), false);
  ForBlocks({0, batch.n}, [&](int64_t at, int64_t rows) {
    Forward(net_.actor, actor_target_weights_, actor_target_.data(), &batch.next_obs[at * net_.obs], rows, &next_.work);
    std::copy_n(next_.work.head.data(), rows * k, &next_.action[at * k]);
  });
  nn::TanhInPlace(next_.action.data(), size);
  const T deviation = static_cast<T>(options_.target_noise), most = static_cast<T>(options_.target_noise_clip);
  for (int64_t i = 0; i < size; ++i)
    next_.action[i] = std::clamp(next_.action[i] + std::clamp(deviation * noise[i], -most, most), T(-1), T(1));
}

// The actor's actions; the hidden layers' outputs of all rows stay for a pass backward.
template <class T>
void Trainer<T>::ChoosePresent(const Batch<T>& batch) {
  Grow(&present_.action, batch.n * net_.actions);
  present_.work.Reserve(net_.actor, batch.n, true);
  Forward(net_.actor, actor_weights_, actor_.params(), batch.obs.data(), batch.n, &present_.work);
  std::copy_n(present_.work.head.data(), batch.n * net_.actions, present_.action.data());
  nn::TanhInPlace(present_.action.data(), batch.n * net_.actions);
}

// The loss is minus the mean of the first critic's value, after the critics' step.
template <class T>
void Trainer<T>::UpdateActor(const Batch<T>& batch, UpdateStats* stats) {
  const int64_t size = batch.n * net_.actions;
  Grow(&dq_, size);
  stats->actor_loss = -critics_.FirstGradient(batch, present_.action.data(), dq_.data()) / static_cast<double>(batch.n);
  const T share = T(1) / static_cast<T>(batch.n);
  for (int64_t i = 0; i < size; ++i) present_.work.d_head[i] = -share * dq_[i] * (1 - present_.action[i] * present_.action[i]);
  std::fill_n(actor_.gradient(), net_.actor_size, T{0});
  Backward<T>(net_.actor, actor_weights_, batch.obs.data(), nullptr, batch.n, &present_.work, actor_.gradient());
  Descend(options_.lr, options_.grad_clip, stats->actor_loss, parallel_, &actor_);
  actor_weights_.Pack(net_.actor, actor_.params(), true);
}

template <class T>
void Trainer<T>::LearnFused(const Batch<T>& batch, const T* noise, UpdateStats* stats) {
  parallel_(stats->actor_stepped ? 2 : 1,
            [&](uint64_t which) { which == 0 ? ChooseNext(batch, noise) : ChoosePresent(batch); });
  critics_.EvaluateTargets(batch, next_.action.data());
  Grow(&y_, batch.n);
  for (int64_t i = 0; i < batch.n; ++i) y_[i] = batch.reward[i] + batch.discount[i] * critics_.TargetValue(i);
  const auto step = critics_.Update(batch, y_.data(), options_.critic_lr, options_.grad_clip);
  stats->critic_loss = step.loss, stats->q = step.q;
  if (stats->actor_stepped) UpdateActor(batch, stats);
}

template <class T>
void Trainer<T>::LearnByGradients(const Batch<T>& batch, const T* noise, UpdateStats* stats) {
  const typename ActorCriticGradients<T>::Params params = {actor_.params(), actor_target_.data(), critics().params(),
                                                           targets().data()};
  const auto [loss, q] =
      gradients_->Critics(batch, {nullptr, noise, 0}, params, critics().gradient(), critics_.errors(batch.n));
  critics_.StepAlong(loss, options_.critic_lr, options_.grad_clip);
  stats->critic_loss = loss, stats->q = q;
  if (!stats->actor_stepped) return;
  stats->actor_loss = gradients_->Actor(params, actor_.gradient()).loss;
  Descend(options_.lr, options_.grad_clip, stats->actor_loss, parallel_, &actor_);
  actor_weights_.Pack(net_.actor, actor_.params(), true);
}

template <class T>
UpdateStats Trainer<T>::Update(const Batch<T>& batch, const T* noise) {
  UpdateStats stats{};
  stats.actor_stepped = ++updates_ % static_cast<uint64_t>(options_.policy_delay) == 0;
  gradients_ ? LearnByGradients(batch, noise, &stats) : LearnFused(batch, noise, &stats);
  if (!stats.actor_stepped) return stats;
  critics_.MixTargets(options_.tau);
  nn::Mix(options_.tau, actor_.params(), net_.actor_size, actor_target_.data());
  actor_target_weights_.Pack(net_.actor, actor_target_.data(), false);
  return stats;
}

template class Trainer<float>;
template class Trainer<double>;

}  // namespace backplane::td3
