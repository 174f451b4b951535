#include "trainer.hpp"

#include <algorithm>
#include <numeric>

#include "nn/vectors.hpp"
#include "squashed.hpp"

namespace backplane::sac {
namespace {

template <class T>
void Grow(std::vector<T>* values, int64_t n) {
  if (static_cast<int64_t>(values->size()) < n) values->resize(static_cast<size_t>(n));
}

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
      critics_(net.critics_size, hint),
      targets_(static_cast<size_t>(net.critics_size)) {}

template <class T>
const nn::Layer& Trainer<T>::FirstOf(int64_t critic) const {
  const Tower& tower = net_.critics[critic];
  return tower.hidden.empty() ? tower.head : tower.hidden.front();
}

template <class T>
void Trainer<T>::PackCritics() {
  Both([&](int64_t q) {
    judges_[q].weights.Pack(net_.critics[q], critics_.params(), true);
    const nn::Layer& first = FirstOf(q);
    judges_[q].to_action.SetTransposed(critics_.params() + first.weight + net_.obs * first.out, net_.actions, first.out);
  });
}

template <class T>
void Trainer<T>::Refresh(bool copy_targets) {
  if (copy_targets) std::copy_n(critics_.params(), net_.critics_size, targets_.data());
  actor_weights_.Pack(net_.actor, actor_.params(), true);
  PackCritics();
  for (int q = 0; q < 2; ++q) judges_[q].target_weights.Pack(net_.critics[q], targets_.data(), false);
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
void Trainer<T>::Join(const T* obs, const T* action, int64_t n, std::vector<T>* input) const {
  Grow(input, n * (net_.obs + net_.actions));
  T* to = input->data();
  for (int64_t r = 0; r < n; ++r) {
    to = std::copy_n(obs + r * net_.obs, net_.obs, to);
    to = std::copy_n(action + r * net_.actions, net_.actions, to);
  }
}

template <class T>
void Trainer<T>::TargetValues(const Batch<T>& batch, int64_t q) {
  Judge& judge = judges_[q];
  const Tower& tower = net_.critics[q];
  Join(batch.next_obs.data(), next_.action.data(), batch.n, &judge.input);
  Grow(&judge.target_value, batch.n);
  judge.work.Reserve(tower, batch.n, true);
  ForBlocks({0, batch.n}, [&](int64_t at, int64_t rows) {
    Forward(tower, judge.target_weights, targets_.data(), &judge.input[at * (net_.obs + net_.actions)], rows, &judge.work);
    std::copy_n(judge.work.head.data(), rows, &judge.target_value[at]);
  });
}

template <class T>
void Trainer<T>::Targets(const Batch<T>& batch) {
  Grow(&y_, batch.n);
  const T alpha = static_cast<T>(temperature_.alpha());
  for (int64_t i = 0; i < batch.n; ++i) {
    const T value = std::min(judges_[0].target_value[i], judges_[1].target_value[i]) - alpha * next_.logp[i];
    y_[i] = batch.reward[i] + batch.discount[i] * value;
  }
}

// The loss is the sum over critics of half the mean of weight * (Q - y)^2.
template <class T>
void Trainer<T>::CriticGradient(const Batch<T>& batch, int64_t q) {
  Judge& judge = judges_[q];
  const Tower& tower = net_.critics[q];
  std::fill(critics_.gradient() + tower.begin, critics_.gradient() + tower.end, T{0});
  Join(batch.obs.data(), batch.action.data(), batch.n, &judge.input);
  Grow(&judge.error, batch.n);
  judge.loss = judge.sum = 0;
  const T share = T(1) / static_cast<T>(batch.n);
  ForBlocks({0, batch.n}, [&](int64_t at, int64_t rows) {
    const T* input = &judge.input[at * (net_.obs + net_.actions)];
    Forward(tower, judge.weights, critics_.params(), input, rows, &judge.work);
    for (int64_t r = 0; r < rows; ++r) {
      const T weight = batch.weight.empty() ? T(1) : batch.weight[at + r], error = judge.work.head[r] - y_[at + r];
      judge.error[at + r] = error;
      judge.work.d_head[r] = weight * error * share;
      judge.loss += .5 * static_cast<double>(weight * error * error), judge.sum += static_cast<double>(judge.work.head[r]);
    }
    Backward<T>(tower, judge.weights, input, nullptr, rows, &judge.work, critics_.gradient());
  });
}

// Values of the current policy's actions; keeps the hidden layers' outputs of all rows.
template <class T>
void Trainer<T>::ActionValues(const Batch<T>& batch, int64_t q) {
  Judge& judge = judges_[q];
  Join(batch.obs.data(), drawn_.action.data(), batch.n, &judge.input);
  Forward(net_.critics[q], judge.weights, critics_.params(), judge.input.data(), batch.n, &judge.work);
}

template <class T>
void Trainer<T>::ChooseSmaller(int64_t n) {
  for (Judge& judge : judges_) judge.chosen.clear();
  for (int64_t i = 0; i < n; ++i) judges_[judges_[1].work.head[i] < judges_[0].work.head[i] ? 1 : 0].chosen.push_back(i);
}

// dQ/da of the chosen rows. No weight of a critic gets a gradient.
template <class T>
void Trainer<T>::ActionGradient(int64_t q) {
  Judge& judge = judges_[q];
  const Tower& tower = net_.critics[q];
  const auto m = static_cast<int64_t>(judge.chosen.size());
  const int64_t widest = std::max(tower.widest, net_.actions);
  Grow(&judge.d, m * widest), Grow(&judge.other, m * widest);
  T *d = judge.d.data(), *other = judge.other.data();
  std::fill_n(other, m, T{1});
  if (!tower.hidden.empty())
    nn::Multiply<T>(other, judge.weights.head.backward, nullptr, m, d);
  else
    std::swap(d, other);
  for (size_t i = tower.hidden.size(); i-- > 0;) {
    const int64_t width = tower.hidden[i].out;
    for (int64_t r = 0; r < m; ++r) {
      const T* y = &judge.work.results[i][judge.chosen[r] * width];
      tower.activation == Activation::kTanh ? nn::TanhBackward(y, d + r * width, width)
                                            : nn::ReluBackward(y, d + r * width, width);
    }
    if (i == 0) break;
    nn::Multiply<T>(d, judge.weights.hidden[i].backward, nullptr, m, other);
    std::swap(d, other);
  }
  nn::Multiply<T>(d, judge.to_action, nullptr, m, other);
  for (int64_t r = 0; r < m; ++r) std::copy_n(other + r * net_.actions, net_.actions, &dq_[judge.chosen[r] * net_.actions]);
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

template <class T>
void Trainer<T>::Step(double lr, double loss, Optimizer<T>* optimizer) {
  StepStats stats{};
  stats.total = loss;
  optimizer->Step({.lr = lr, .grad_clip = options_.grad_clip, .kl_stop = 0, .eps = 1e-8}, parallel_, &stats);
}

// A step of the critics.
template <class T>
void Trainer<T>::UpdateCritics(const Batch<T>& batch, UpdateStats* stats) {
  const auto count = static_cast<double>(batch.n);
  Both([&](int64_t q) { TargetValues(batch, q); });
  Targets(batch);
  Both([&](int64_t q) { CriticGradient(batch, q); });
  stats->critic_loss = (judges_[0].loss + judges_[1].loss) / count;
  stats->q = (judges_[0].sum + judges_[1].sum) / (2 * count);
  errors_.resize(static_cast<size_t>(batch.n));
  for (int64_t i = 0; i < batch.n; ++i) errors_[i] = (std::abs(judges_[0].error[i]) + std::abs(judges_[1].error[i])) / 2;
  Step(options_.critic_lr, stats->critic_loss, &critics_);
  PackCritics();
}

// A step of the actor along the values of the critics after their step.
template <class T>
void Trainer<T>::UpdateActor(const Batch<T>& batch, const T* noise, UpdateStats* stats) {
  const auto count = static_cast<double>(batch.n);
  Both([&](int64_t q) { ActionValues(batch, q); });
  ChooseSmaller(batch.n);
  Grow(&dq_, batch.n * net_.actions);
  Both([&](int64_t q) { ActionGradient(q); });
  double smaller = 0;
  for (const Judge& judge : judges_)
    for (const int64_t i : judge.chosen) smaller += static_cast<double>(judge.work.head[i]);
  const double logp = SumOf(drawn_.logp.data(), batch.n) / count;
  stats->entropy = -logp;
  stats->actor_loss = stats->alpha * logp - smaller / count;
  ActorGradient(batch, noise);
  Step(options_.lr, stats->actor_loss, &actor_);
  actor_weights_.Pack(net_.actor, actor_.params(), true);
}

template <class T>
UpdateStats Trainer<T>::Update(const Batch<T>& batch, const T* noise, const T* next_noise) {
  Both([&](int64_t which) {
    which == 0 ? Draw(batch.obs.data(), noise, batch.n, true, &drawn_)
               : Draw(batch.next_obs.data(), next_noise, batch.n, false, &next_);
  });
  UpdateStats stats{};
  stats.alpha = temperature_.alpha();
  UpdateCritics(batch, &stats);
  UpdateActor(batch, noise, &stats);
  temperature_.Step(-stats.entropy, options_.alpha_lr);
  if (++updates_ % static_cast<uint64_t>(options_.target_update_interval) == 0) {
    nn::Mix(options_.tau, critics_.params(), net_.critics_size, targets_.data());
    Both([&](int64_t q) { judges_[q].target_weights.Pack(net_.critics[q], targets_.data(), false); });
  }
  return stats;
}

template class Trainer<float>;
template class Trainer<double>;

}  // namespace backplane::sac
