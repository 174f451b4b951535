#include "on_policy/optimizer.hpp"

#include <cmath>

#include "nn/vectors.hpp"
#include "rl/finite.hpp"
#include "rl/saved_numbers.hpp"

namespace backplane::on_policy {

// Returns the sum of squares before the clip.
template <class T>
double Optimizer<T>::Clip(int64_t begin, int64_t end, double max_norm) {
  const double squares = nn::SumOfSquares(gradient_.data() + begin, end - begin);
  const double factor = max_norm / (std::sqrt(squares) + 1e-6);
  if (max_norm > 0 && factor < 1) nn::Scale(factor, end - begin, gradient_.data() + begin);
  return squares;
}

template <class T>
void Optimizer<T>::Step(const StepOptions& options, StepStats* stats) {
  rl::NeedFinite("loss", stats->total, hint_);
  if (options.kl_stop > 0 && stats->kl > options.kl_stop) return;
  double squares = 0;
  if (options.split > 0) squares += Clip(0, options.split, options.grad_clip);
  squares += Clip(options.split, size(), options.grad_clip);
  stats->grad_norm = std::sqrt(squares);
  rl::NeedFinite("gradient norm", stats->grad_norm, hint_);
  nn::Adam({.lr = options.lr, .step = ++steps_}, gradient_.data(), size(), m_.data(), v_.data(), params_.data());
  stats->applied = true;
}

// Where a second moment has overflowed, its parameter stands still for ever and nothing else shows it.
template <class T>
void Optimizer<T>::RequireFiniteState() const {
  rl::NeedFinite("norm of the parameters", std::sqrt(nn::SumOfSquares(params_.data(), size())), hint_);
  rl::NeedFinite("norm of Adam's second moments", std::sqrt(nn::SumOfSquares(v_.data(), size())), hint_);
}

template <class T>
void Optimizer<T>::Tell(bp::NamedTensors* out) const {
  out->Add("adam.m", m_);
  out->Add("adam.v", v_);
  out->AddNumber("adam.steps", steps_);
}

template <class T>
void Optimizer<T>::Save(const bp::Writer& writer) const {
  for (const auto* values : {&params_, &m_, &v_}) writer.PutAll(values->data(), values->size());
  writer.Put(steps_);
}

template <class T>
void Optimizer<T>::Load(const bp::Reader& reader) {
  reader.GetAll(params_.data(), params_.size(), "parameters");
  reader.GetAll(m_.data(), m_.size(), "first moments of Adam");
  reader.GetAll(v_.data(), v_.size(), "second moments of Adam");
  steps_ = reader.Get<int64_t>();
  // As RequireFiniteState leaves them.
  rl::NeedSavedFinite(params_.data(), params_.size(), "parameters");
  rl::NeedSavedFinite(m_.data(), m_.size(), "first moments of Adam");
  rl::NeedSavedFromZero(v_.data(), v_.size(), "second moments of Adam");
  rl::NeedSavedFromZero(&steps_, 1, "a number of steps");
}

template class Optimizer<float>;
template class Optimizer<double>;

}  // namespace backplane::on_policy
