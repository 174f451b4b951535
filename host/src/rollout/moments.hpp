// Running mean and sum of squared deviations of a vector, in double: Welford's update, Chan's merge.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace backplane {

struct Moments {
  double count = 0;
  std::vector<double> mean, m2;

  void Reset(size_t n) {
    count = 0;
    mean.assign(n, 0.0);
    m2.assign(n, 0.0);
  }
  void Add(const float* x) {
    count += 1;
    const double inverse = 1.0 / count;
    double *m = mean.data(), *s = m2.data();
    for (size_t i = 0, n = mean.size(); i < n; ++i) {
      const double d = x[i] - m[i];
      m[i] += d * inverse;
      s[i] += d * (x[i] - m[i]);
    }
  }
  void Merge(const Moments& other) {
    if (other.count == 0) return;
    const double total = count + other.count, weight = other.count / total;
    for (size_t i = 0; i < mean.size(); ++i) {
      const double d = other.mean[i] - mean[i];
      mean[i] += d * weight;
      m2[i] += other.m2[i] + d * d * count * weight;
    }
    count = total;
  }
};

}  // namespace backplane
