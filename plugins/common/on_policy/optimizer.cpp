#include "on_policy/optimizer.hpp"

#include <algorithm>
#include <cmath>

#include "nn/vectors.hpp"
#include "rl/finite.hpp"
#include "rl/saved_numbers.hpp"

namespace backplane::on_policy {

template <class T>
Optimizer<T>::Clip Optimizer<T>::ClipOf(int64_t begin, int64_t end, double max_norm, const Parallel& parallel) const {
  nn::SquareSums sums;
  const auto add = [&](uint64_t part) { sums.Add(static_cast<int64_t>(part), gradient_.data() + begin, end - begin); };
  ForPieces(parallel, nn::kSquareParts, end - begin, add);
  const double squares = sums.Total();
  return {begin, end, squares, max_norm > 0 ? max_norm / (std::sqrt(squares) + 1e-6) : 1};
}

template <class T>
void Optimizer<T>::Step(const StepOptions& options, const Parallel& parallel, StepStats* stats) {
  const auto skips = [&](double value) { return stats->overflowed = options.may_overflow && !std::isfinite(value); };
  if (skips(stats->total)) return;
  rl::NeedFinite("loss", stats->total, hint_);
  if (options.kl_stop > 0 && stats->kl > options.kl_stop) return;
  std::vector<Clip> clips;
  double squares = 0;
  for (size_t i = 0; i <= options.splits.size(); ++i) {
    const int64_t end = i < options.splits.size() ? options.splits[i] : size();
    clips.push_back(ClipOf(i > 0 ? options.splits[i - 1] : 0, end, options.grad_clip, parallel));
    squares += clips.back().squares;
  }
  stats->grad_norm = std::sqrt(squares);
  if (skips(stats->grad_norm)) return;
  rl::NeedFinite("gradient norm", stats->grad_norm, hint_);
  const nn::AdamStep step{.lr = options.lr, .eps = options.eps, .step = ++steps_};
  ForNumbers(parallel, size(), [&](int64_t begin, int64_t end) {
    for (const Clip& clip : clips) {
      const int64_t from = std::max(begin, clip.begin), n = std::min(end, clip.end) - from;
      if (clip.factor < 1 && n > 0) nn::Scale(clip.factor, n, gradient_.data() + from);
    }
    nn::Adam(step, gradient_.data() + begin, end - begin, m_.data() + begin, v_.data() + begin, params_.data() + begin);
  });
  stats->applied = true;
}

// If a second moment has overflowed, its parameter never changes again without any other sign.
template <class T>
void Optimizer<T>::RequireFiniteState() const {
  rl::NeedFinite("norm of the parameters", std::sqrt(nn::SumOfSquares(params_.data(), size())), hint_);
  rl::NeedFinite("norm of Adam's second moments", std::sqrt(nn::SumOfSquares(v_.data(), size())), hint_);
}

template <class T>
void Optimizer<T>::Tell(bp::NamedTensors* out, const std::string& prefix) const {
  out->Add(prefix + "adam.m", m_);
  out->Add(prefix + "adam.v", v_);
  out->AddNumber(prefix + "adam.steps", steps_);
}

template <class T>
void Optimizer<T>::Save(const bp::Writer& writer) const {
  for (const auto* values : {&params_, &m_, &v_}) writer.PutAll(values->data(), values->size());
  writer.Put(steps_);
}

template <class T>
void Optimizer<T>::Load(const bp::Reader& reader) {
  LoadParams(reader);
  reader.GetAll(m_.data(), m_.size(), "first moments of Adam");
  reader.GetAll(v_.data(), v_.size(), "second moments of Adam");
  steps_ = reader.Get<int64_t>();
  // As RequireFiniteState leaves them.
  rl::NeedSavedFinite(m_.data(), m_.size(), "first moments of Adam");
  rl::NeedSavedFromZero(v_.data(), v_.size(), "second moments of Adam");
  rl::NeedSavedFromZero(&steps_, 1, "a number of steps");
}

template <class T>
void Optimizer<T>::LoadParams(const bp::Reader& reader) {
  reader.GetAll(params_.data(), params_.size(), "parameters");
  rl::NeedSavedFinite(params_.data(), params_.size(), "parameters");
}

template class Optimizer<float>;
template class Optimizer<double>;

}  // namespace backplane::on_policy
