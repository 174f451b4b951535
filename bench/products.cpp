// Measures the matrix products of plugins/common/nn and prints one JSON object: GFLOP/s by the thread's CPU time, best of 8.
//
//   bench_products ROWS IN OUT         forward [ROWS, IN] x [IN, OUT] and the gradient of the weights, in float32 and with
//                                      factors rounded to bfloat16 (0 without support by the processor); packing_*_us is
//                                      both packings of the weights
//   bench_products count ROWS IN OUT   one forward product inside backplane_bench_measured, for an instruction counter
// bench_products plain ROWS IN OUT   the same with three unvectorised loops, which the gate must detect
#include <algorithm>
#include <ctime>
#include <functional>
#include <iostream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "nn/bf16.hpp"
#include "nn/matrix.hpp"

extern "C" [[gnu::noinline]] void backplane_bench_measured(const std::function<void()>& work) {
  work();
  asm volatile("" ::: "memory");  // no tail call: the exit of this function must be seen
}

namespace {

using backplane::nn::Packed;
using backplane::nn::Precision;

constexpr int kRounds = 8, kProducts = 20;

double ThreadSeconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

double BestSeconds(const std::function<void()>& work) {
  double best = std::numeric_limits<double>::infinity();
  for (int round = 0; round < kRounds; ++round) {
    const double begun = ThreadSeconds();
    for (int i = 0; i < kProducts; ++i) work();
    best = std::min(best, (ThreadSeconds() - begun) / kProducts);
  }
  return best;
}

[[gnu::optimize("no-tree-vectorize")]] void Plain(const std::vector<float>& a, const std::vector<float>& b, int64_t m,
                                                  int64_t k, int64_t n, std::vector<float>* c) {
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t p = 0; p < k; ++p) {
      for (int64_t j = 0; j < n; ++j) (*c)[i * n + j] += a[i * k + p] * b[p * n + j];
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc == 5 ? argv[1] : "";
  if (argc != 4 && what != "count" && what != "plain") {
    std::cerr << "usage: bench_products [count | plain] ROWS IN OUT\n";
    return 2;
  }
  const int64_t m = std::stoll(argv[argc - 3]), k = std::stoll(argv[argc - 2]), n = std::stoll(argv[argc - 1]);
  const std::vector<float> a(m * k, 0.5f), b(k * n, 0.25f);
  std::vector<float> c(m * n), gradient(k * n);
  Packed<float> weights, transposed, deltas;
  weights.Set(b.data(), k, n);
  const auto forward = [&] { Multiply(a.data(), weights, static_cast<const float*>(nullptr), m, c.data()); };
  if (what == "plain") backplane_bench_measured([&] { Plain(a, b, m, k, n, &c); });
  if (what == "count") backplane_bench_measured(forward);
  if (!what.empty()) return c[0] == 0.125f * static_cast<float>(k) ? 0 : 1;
  const double operations = 2.0 * static_cast<double>(m) * static_cast<double>(k) * static_cast<double>(n) * 1e-9;
  nlohmann::json out;
  const auto measure = [&](const std::string& suffix, Precision precision) {
    out["packing" + suffix + "_us"] = 1e6 * BestSeconds([&] {
                                        weights.Set(b.data(), k, n, precision);
                                        transposed.SetTransposed(b.data(), k, n, precision);
                                      });
    out["forward" + suffix + "_gflop_per_s"] = operations / BestSeconds(forward);
    deltas.Set(c.data(), m, n, precision);
    out["gradient" + suffix + "_gflop_per_s"] =
        operations / BestSeconds([&] { MultiplyTransposedAdd(a.data(), k, deltas, gradient.data()); });
  };
  measure("", Precision::kFull);
  for (const char* figure : {"packing_bf16_us", "forward_bf16_gflop_per_s", "gradient_bf16_gflop_per_s"}) out[figure] = 0;
  if (backplane::nn::HasBf16()) measure("_bf16", Precision::kBf16);
  std::cout << out << '\n';
}
