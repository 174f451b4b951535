#include "value_norm.hpp"

#include <algorithm>
#include <cmath>

#include "rl/saved_numbers.hpp"

namespace backplane::mappo {
namespace {
constexpr double kKeep = 0.99999, kLeast = 1e-5, kLeastVariance = 0.01;
}

void ValueNorm::Blend(double mean, double square) {
  m_ = kKeep * m_ + (1 - kKeep) * mean;
  q_ = kKeep * q_ + (1 - kKeep) * square;
  d_ = kKeep * d_ + (1 - kKeep);
}

double ValueNorm::mean() const { return m_ / std::max(d_, kLeast); }
double ValueNorm::variance() const { return std::max(q_ / std::max(d_, kLeast) - mean() * mean(), kLeastVariance); }
on_policy::Scaling ValueNorm::scaling() const { return {mean(), 1 / std::sqrt(variance())}; }
float ValueNorm::Denormalize(double value) const { return static_cast<float>(value * std::sqrt(variance()) + mean()); }

void ValueNorm::Save(const bp::Writer& writer) const {
  for (double each : {m_, q_, d_}) writer.Put(each);
}

void ValueNorm::Tell(bp::NamedTensors* out, const std::string& prefix) const {
  out->AddNumber(prefix + "value_norm.mean", m_);
  out->AddNumber(prefix + "value_norm.square", q_);
  out->AddNumber(prefix + "value_norm.debias", d_);
}

void ValueNorm::Load(const bp::Reader& reader) {
  for (double* each : {&m_, &q_, &d_}) *each = reader.Get<double>();
  rl::NeedSavedFinite(&m_, 1, "a mean of returns");
  for (const double* each : {&q_, &d_}) rl::NeedSavedFromZero(each, 1, "statistics of returns");
}

}  // namespace backplane::mappo
