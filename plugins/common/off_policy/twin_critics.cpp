#include "off_policy/twin_critics.hpp"

#include <cmath>
#include <numeric>

#include "nn/vectors.hpp"

namespace backplane::off_policy {

template <class T>
TwinCritics<T>::TwinCritics(const Net& net, const Parallel& parallel, const std::string& hint)
    : net_(net), parallel_(parallel), critics_(net.critics_size, hint), targets_(static_cast<size_t>(net.critics_size)) {}

template <class T>
const nn::Layer& TwinCritics<T>::FirstOf(int64_t critic) const {
  const Tower& tower = net_.critics[critic];
  return tower.hidden.empty() ? tower.head : tower.hidden.front();
}

template <class T>
void TwinCritics<T>::Pack() {
  if (!packs_) return;
  Both([&](int64_t q) {
    judges_[q].weights.Pack(net_.critics[q], critics_.params(), true);
    const nn::Layer& first = FirstOf(q);
    judges_[q].to_action.SetTransposed(critics_.params() + first.weight + net_.obs * first.out, net_.actions, first.out);
  });
}

template <class T>
void TwinCritics<T>::PackTargets() {
  if (!packs_) return;
  Both([&](int64_t q) { judges_[q].target_weights.Pack(net_.critics[q], targets_.data(), false); });
}

template <class T>
void TwinCritics<T>::Refresh(bool copy_targets) {
  if (copy_targets) std::copy_n(critics_.params(), net_.critics_size, targets_.data());
  Pack();
  PackTargets();
}

template <class T>
void TwinCritics<T>::MixTargets(double tau) {
  nn::Mix(tau, critics_.params(), net_.critics_size, targets_.data());
  PackTargets();
}

template <class T>
void TwinCritics<T>::Join(const T* obs, const T* action, int64_t n, std::vector<T>* input) const {
  Grow(input, n * (net_.obs + net_.actions));
  T* to = input->data();
  for (int64_t r = 0; r < n; ++r) {
    to = std::copy_n(obs + r * net_.obs, net_.obs, to);
    to = std::copy_n(action + r * net_.actions, net_.actions, to);
  }
}

template <class T>
void TwinCritics<T>::TargetValues(const Batch<T>& batch, const T* next_action, int64_t q) {
  Judge& judge = judges_[q];
  const Tower& tower = net_.critics[q];
  Join(batch.next_obs.data(), next_action, batch.n, &judge.input);
  Grow(&judge.target_value, batch.n);
  judge.work.Reserve(tower, batch.n, true);
  ForBlocks({0, batch.n}, [&](int64_t at, int64_t rows) {
    Forward(tower, judge.target_weights, targets_.data(), &judge.input[at * (net_.obs + net_.actions)], rows, &judge.work);
    std::copy_n(judge.work.head.data(), rows, &judge.target_value[at]);
  });
}

template <class T>
void TwinCritics<T>::EvaluateTargets(const Batch<T>& batch, const T* next_action) {
  Both([&](int64_t q) { TargetValues(batch, next_action, q); });
}

template <class T>
void TwinCritics<T>::Gradient(const Batch<T>& batch, const T* y, int64_t q) {
  Judge& judge = judges_[q];
  const Tower& tower = net_.critics[q];
  std::fill(critics_.gradient() + tower.begin, critics_.gradient() + tower.end, T{0});
  Join(batch.obs.data(), batch.action.data(), batch.n, &judge.input);
  Grow(&judge.error, batch.n);
  judge.work.Reserve(tower, batch.n, true);
  judge.loss = judge.sum = 0;
  const T share = T(1) / static_cast<T>(batch.n);
  ForBlocks({0, batch.n}, [&](int64_t at, int64_t rows) {
    const T* input = &judge.input[at * (net_.obs + net_.actions)];
    Forward(tower, judge.weights, critics_.params(), input, rows, &judge.work);
    for (int64_t r = 0; r < rows; ++r) {
      const T weight = batch.weight.empty() ? T(1) : batch.weight[at + r], error = judge.work.head[r] - y[at + r];
      judge.error[at + r] = error;
      judge.work.d_head[r] = weight * error * share;
      judge.loss += .5 * static_cast<double>(weight * error * error), judge.sum += static_cast<double>(judge.work.head[r]);
    }
    Backward<T>(tower, judge.weights, input, nullptr, rows, &judge.work, critics_.gradient());
  });
}

template <class T>
typename TwinCritics<T>::Stats TwinCritics<T>::Update(const Batch<T>& batch, const T* y, double lr, double grad_clip) {
  const auto count = static_cast<double>(batch.n);
  Both([&](int64_t q) { Gradient(batch, y, q); });
  const Stats stats{(judges_[0].loss + judges_[1].loss) / count, (judges_[0].sum + judges_[1].sum) / (2 * count)};
  errors_.resize(static_cast<size_t>(batch.n));
  for (int64_t i = 0; i < batch.n; ++i) errors_[i] = (std::abs(judges_[0].error[i]) + std::abs(judges_[1].error[i])) / 2;
  Descend(lr, grad_clip, stats.loss, parallel_, &critics_);
  Pack();
  return stats;
}

// Keeps the hidden layers' outputs of all rows.
template <class T>
void TwinCritics<T>::ActionValues(const Batch<T>& batch, const T* action, int64_t q) {
  Judge& judge = judges_[q];
  Join(batch.obs.data(), action, batch.n, &judge.input);
  judge.work.Reserve(net_.critics[q], batch.n, true);
  Forward(net_.critics[q], judge.weights, critics_.params(), judge.input.data(), batch.n, &judge.work);
}

template <class T>
double TwinCritics<T>::SmallerGradient(const Batch<T>& batch, const T* action, T* dq) {
  Both([&](int64_t q) { ActionValues(batch, action, q); });
  for (Judge& judge : judges_) judge.chosen.clear();
  for (int64_t i = 0; i < batch.n; ++i) judges_[judges_[1].work.head[i] < judges_[0].work.head[i] ? 1 : 0].chosen.push_back(i);
  Both([&](int64_t q) { ActionGradient(q, dq); });
  double smaller = 0;
  for (const Judge& judge : judges_)
    for (const int64_t i : judge.chosen) smaller += static_cast<double>(judge.work.head[i]);
  return smaller;
}

template <class T>
double TwinCritics<T>::FirstGradient(const Batch<T>& batch, const T* action, T* dq) {
  Judge& judge = judges_[0];
  ActionValues(batch, action, 0);
  judge.chosen.resize(static_cast<size_t>(batch.n));
  std::iota(judge.chosen.begin(), judge.chosen.end(), 0);
  ActionGradient(0, dq);
  return std::accumulate(judge.work.head.begin(), judge.work.head.begin() + batch.n, 0.0);
}

// dQ/da of the chosen rows.
template <class T>
void TwinCritics<T>::ActionGradient(int64_t q, T* dq) {
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
  for (int64_t r = 0; r < m; ++r) std::copy_n(other + r * net_.actions, net_.actions, &dq[judge.chosen[r] * net_.actions]);
}

template class TwinCritics<float>;
template class TwinCritics<double>;

}  // namespace backplane::off_policy
