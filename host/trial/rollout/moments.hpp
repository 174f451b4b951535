// Running mean and sum of squared deviations of a vector, in double: Welford's update, Chan's merge.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace backplane {

// Adds x [n], float or uint8_t.
template <class T>
void AddToMoments(const T* x, size_t n, double* count, double* mean, double* m2) {
  *count += 1;
  const double inverse = 1.0 / *count;
  for (size_t i = 0; i < n; ++i) {
    const double d = x[i] - mean[i];
    mean[i] += d * inverse;
    m2[i] += d * (x[i] - mean[i]);
  }
}

struct Moments {
  double count = 0;
  std::vector<double> mean, m2;

  void Reset(size_t n) {
    count = 0;
    mean.assign(n, 0.0);
    m2.assign(n, 0.0);
  }
  template <class T>
  void Add(const T* x) {
    AddToMoments(x, mean.size(), &count, mean.data(), m2.data());
  }
  void Merge(const Moments& other) { Merge(other.count, other.mean.data(), other.m2.data()); }
  void Merge(double other_count, const double* other_mean, const double* other_m2) {
    if (other_count == 0) return;
    const double total = count + other_count, weight = other_count / total;
    for (size_t i = 0; i < mean.size(); ++i) {
      const double d = other_mean[i] - mean[i];
      mean[i] += d * weight;
      m2[i] += other_m2[i] + d * d * count * weight;
    }
    count = total;
  }
};

}  // namespace backplane
