#include "trainer.hpp"

#include <algorithm>

#include "nn/vectors.hpp"
#include "squashed.hpp"

namespace backplane::sac {
namespace {

template <class T>
double SumOf(const T* values, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += static_cast<double>(values[i]);
  return sum;
}

}  // namespace

template <class T>
Trainer<T>::Trainer(const Net& net, const TrainerOptions& options, const Temperature& temperature, Parallel parallel,
                    const std::string& hint)
    : net_(net),
      options_(options),
      parallel_(std::move(parallel)),
      temperature_(temperature),
      actor_(net.actor_size, hint),
      critics_(net, parallel_, hint) {}

template <class T>
void Trainer<T>::Refresh(bool copy_targets) {
  actor_weights_.Pack(net_.actor, actor_.params(), true);
  critics_.Refresh(copy_targets);
}

// With `keep`, the hidden layers' outputs of all rows stay for a pass backward.
template <class T>
void Trainer<T>::Draw(const T* obs, const T* noise, int64_t n, bool keep, Drawn* out) {
  out->work.Reserve(net_.actor, keep ? n : std::min(n, kBlock), keep);
  Grow(&out->action, n * net_.actions), Grow(&out->logp, n);
  const auto draw = [&](int64_t at, int64_t rows) {
    Forward(net_.actor, actor_weights_, actor_.params(), obs + at * net_.obs, rows, &out->work);
    for (int64_t r = 0; r < rows; ++r)
      out->logp[at + r] = Squashed(&out->work.head[r * 2 * net_.actions], noise + (at + r) * net_.actions, net_.actions,
                                   &out->action[(at + r) * net_.actions]);
  };
  keep ? draw(0, n) : ForBlocks({0, n}, draw);
  nn::TanhInPlace(out->action.data(), n * net_.actions);
}

template <class T>
void Trainer<T>::Targets(const Batch<T>& batch) {
  Grow(&y_, batch.n);
  const T alpha = static_cast<T>(temperature_.alpha());
  for (int64_t i = 0; i < batch.n; ++i) {
    const T value = critics_.TargetValue(i) - alpha * next_.logp[i];
    y_[i] = batch.reward[i] + batch.discount[i] * value;
  }
}

template <class T>
void Trainer<T>::ActorGradient(const Batch<T>& batch, const T* noise) {
  const T alpha = static_cast<T>(temperature_.alpha()), share = T(1) / static_cast<T>(batch.n);
  TowerWork<T>& work = drawn_.work;
  const int64_t k = net_.actions;
  for (int64_t i = 0; i < batch.n; ++i)
    SquashedBackward(&work.head[i * 2 * k], noise + i * k, &drawn_.action[i * k], &dq_[i * k], k, alpha, share,
                     &work.d_head[i * 2 * k]);
  std::fill_n(actor_.gradient(), net_.actor_size, T{0});
  Backward<T>(net_.actor, actor_weights_, batch.obs.data(), nullptr, batch.n, &work, actor_.gradient());
}

// A step of the critics.
template <class T>
void Trainer<T>::UpdateCritics(const Batch<T>& batch, UpdateStats* stats) {
  critics_.EvaluateTargets(batch, next_.action.data());
  Targets(batch);
  const auto step = critics_.Update(batch, y_.data(), options_.critic_lr, options_.grad_clip);
  stats->critic_loss = step.loss, stats->q = step.q;
}

// A step of the actor along the values of the critics after their step.
template <class T>
void Trainer<T>::UpdateActor(const Batch<T>& batch, const T* noise, UpdateStats* stats) {
  const auto count = static_cast<double>(batch.n);
  Grow(&dq_, batch.n * net_.actions);
  const double smaller = critics_.SmallerGradient(batch, drawn_.action.data(), dq_.data());
  const double logp = SumOf(drawn_.logp.data(), batch.n) / count;
  stats->entropy = -logp;
  stats->actor_loss = stats->alpha * logp - smaller / count;
  ActorGradient(batch, noise);
  Descend(options_.lr, options_.grad_clip, stats->actor_loss, parallel_, &actor_);
  actor_weights_.Pack(net_.actor, actor_.params(), true);
}

template <class T>
void Trainer<T>::LearnFused(const Batch<T>& batch, const T* noise, const T* next_noise, UpdateStats* stats) {
  parallel_(2, [&](uint64_t which) {
    which == 0 ? Draw(batch.obs.data(), noise, batch.n, true, &drawn_)
               : Draw(batch.next_obs.data(), next_noise, batch.n, false, &next_);
  });
  UpdateCritics(batch, stats);
  UpdateActor(batch, noise, stats);
}

template <class T>
void Trainer<T>::LearnByGradients(const Batch<T>& batch, const T* noise, const T* next_noise, UpdateStats* stats) {
  const typename ActorCriticGradients<T>::Params params = {actor_.params(), actor_.params(), critics().params(),
                                                           targets().data()};
  const auto [loss, q] =
      gradients_->Critics(batch, {noise, next_noise, stats->alpha}, params, critics().gradient(), critics_.errors(batch.n));
  critics_.StepAlong(loss, options_.critic_lr, options_.grad_clip);
  const auto actor = gradients_->Actor(params, actor_.gradient());
  Descend(options_.lr, options_.grad_clip, actor.loss, parallel_, &actor_);
  actor_weights_.Pack(net_.actor, actor_.params(), true);
  stats->critic_loss = loss, stats->q = q, stats->actor_loss = actor.loss, stats->entropy = -actor.logp;
}

template <class T>
UpdateStats Trainer<T>::Update(const Batch<T>& batch, const T* noise, const T* next_noise) {
  UpdateStats stats{};
  stats.alpha = temperature_.alpha();
  gradients_ ? LearnByGradients(batch, noise, next_noise, &stats) : LearnFused(batch, noise, next_noise, &stats);
  temperature_.Step(-stats.entropy, options_.alpha_lr);
  if (++updates_ % static_cast<uint64_t>(options_.target_update_interval) == 0) critics_.MixTargets(options_.tau);
  return stats;
}

template class Trainer<float>;
template class Trainer<double>;

}  // namespace backplane::sac
