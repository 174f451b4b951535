#include "rl/optimizer.hpp"

#include <cmath>

#include "nn/vectors.hpp"
#include "rl/saved_numbers.hpp"

namespace backplane::rl {

void NeedFinite(const std::string& what, double value, const std::string& hint) {
  if (std::isfinite(value)) return;
  throw bp::Error(BP_E_NUMERIC, "the " + what + " is " + (std::isnan(value) ? "not a number" : "infinite") + "; " + hint);
}

// Returns the sum of squares before the clip.
template <class T>
double Optimizer<T>::Clip(int64_t begin, int64_t end, double max_norm) {
  const double squares = nn::SumOfSquares(gradient_.data() + begin, end - begin);
  const double factor = max_norm / (std::sqrt(squares) + 1e-6);
  if (max_norm > 0 && factor < 1) nn::Scale(factor, end - begin, gradient_.data() + begin);
  return squares;
}

template <class T>
double Optimizer<T>::Step(double max_norm, int64_t split, double lr) {
  double squares = 0;
  if (split > 0) squares += Clip(0, split, max_norm);
  if (split < size()) squares += Clip(split, size(), max_norm);
  const double norm = std::sqrt(squares);
  NeedFinite("gradient norm", norm, hint_);
  nn::Adam({.lr = lr, .step = ++steps_}, gradient_.data(), size(), m_.data(), v_.data(), params_.data());
  return norm;
}

// Where a second moment has overflowed, its parameter stands still for ever and nothing else shows it.
template <class T>
void Optimizer<T>::RequireFiniteState() const {
  NeedFinite("norm of the parameters", std::sqrt(nn::SumOfSquares(params_.data(), size())), hint_);
  NeedFinite("norm of Adam's second moments", std::sqrt(nn::SumOfSquares(v_.data(), size())), hint_);
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
  NeedSavedFinite(params_.data(), params_.size(), "parameters");
  NeedSavedFinite(m_.data(), m_.size(), "first moments of Adam");
  NeedSavedFromZero(v_.data(), v_.size(), "second moments of Adam");
  NeedSavedFromZero(&steps_, 1, "a number of steps");
}

template class Optimizer<float>;
template class Optimizer<double>;

}  // namespace backplane::rl
