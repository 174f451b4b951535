// The gated recurrent unit compared with torch.nn.GRU: states and gradients through sequences of different lengths.
#include "nn/gru.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "backplane/rng.h"
#include "oracle.hpp"

namespace backplane::parity {
namespace {

// Random sequences, longest first, in which about every fifth state begins at 0.
class Passes {
 public:
  Passes(int64_t inputs, int64_t size, std::vector<int64_t> lengths) : lengths_(std::move(lengths)) {
    int64_t end = 0;
    gru_ = nn::MakeGru(inputs, size, &end);
    params_ = Normals(end, .4);
    for (int64_t t = 0; t < lengths_.front(); ++t)
      entries_.push_back(std::count_if(lengths_.begin(), lengths_.end(), [t](int64_t n) { return n > t; }));
    rows_ = std::accumulate(lengths_.begin(), lengths_.end(), int64_t{0});
    x_ = Normals(rows_ * inputs, 1), start_ = Normals(entries_[0] * size, 1), weight_ = Normals(rows_ * size, 1);
    for (int64_t row = 0; row < rows_; ++row) fresh_.push_back(bp_rng_uniform(&rng_) < .2);
  }

  nlohmann::json Request() {
    nlohmann::json sequences;
    for (size_t i = 0; i < lengths_.size(); ++i) {
      nlohmann::json one;
      one["start"] = Row(start_, static_cast<int64_t>(i), gru_.size);
      for (int64_t t = 0; t < lengths_[i]; ++t) {
        const int64_t row = RowOf(i, t);
        one["x"].push_back(Row(x_, row, gru_.input.in)), one["weight"].push_back(Row(weight_, row, gru_.size));
        one["fresh"].push_back(fresh_[row]);
      }
      sequences.push_back(one);
    }
    return {{"inputs", gru_.input.in}, {"size", gru_.size}, {"params", params_}, {"sequences", sequences}};
  }

  // Largest differences from the oracle's answer, relative to the largest number.
  template <class T>
  void ExpectNear(const nlohmann::json& answer, double tolerance) {
    const auto as = [](const std::vector<double>& from) { return std::vector<T>(from.begin(), from.end()); };
    const std::vector<T> params = as(params_), x = as(x_);
    nn::GruWork<T> work;
    work.Reserve(gru_, rows_, true);
    std::copy(start_.begin(), start_.end(), work.before.begin());
    nn::PackedGru<T> packed;
    packed.PackForward(gru_, params.data()), packed.PackBackward(gru_, params.data());
    const nn::Sequences sequences{entries_, fresh_.data()};
    nn::GruForward(gru_, packed, params.data(), x.data(), sequences, &work);
    std::vector<double> states, expected;
    for (size_t i = 0; i < lengths_.size(); ++i) {
      for (int64_t t = 0; t < lengths_[i]; ++t) {
        const T* state = work.state.data() + RowOf(i, t) * gru_.size;
        states.insert(states.end(), state, state + gru_.size);
      }
    }
    for (const auto& row : answer.at("state")) {
      for (const double value : row) expected.push_back(value);
    }
    ExpectNear(states, expected, tolerance, "state");
    std::copy(weight_.begin(), weight_.end(), work.d.begin());
    std::vector<T> gradient(params.size());
    nn::GruBackward(gru_, packed, x.data(), sequences, &work, gradient.data());
    ExpectNear({gradient.begin(), gradient.end()}, answer.at("gradient"), tolerance, "gradient");
  }

 private:
  static void ExpectNear(const std::vector<double>& a, const std::vector<double>& b, double tolerance, const char* what) {
    ASSERT_EQ(a.size(), b.size()) << what;
    double most = 0, apart = 0;
    for (size_t i = 0; i < b.size(); ++i) most = std::max(most, std::abs(b[i])), apart = std::max(apart, std::abs(a[i] - b[i]));
    EXPECT_LT(apart, tolerance * most) << what;
  }
  std::vector<double> Normals(int64_t n, double scale) {
    std::vector<double> values(n);
    for (double& x : values) x = static_cast<float>(scale * bp_rng_normal(&rng_));
    return values;
  }
  static std::vector<double> Row(const std::vector<double>& values, int64_t row, int64_t n) {
    return {values.begin() + row * n, values.begin() + (row + 1) * n};
  }
  int64_t RowOf(size_t sequence, int64_t t) const {
    return std::accumulate(entries_.begin(), entries_.begin() + t, static_cast<int64_t>(sequence));
  }

  bp_rng rng_{9, 0};
  nn::Gru gru_;
  std::vector<int64_t> lengths_, entries_;
  int64_t rows_;
  std::vector<double> params_, x_, start_, weight_;
  std::vector<uint8_t> fresh_;
};

TEST(Gru, EqualsTorchsStatesAndGradients) {
  // Sizes around the width of a register, and sequences that end early.
  for (const int64_t size : {1, 7, 16, 37, 128}) {
    Passes passes(5, size, {9, 9, 6, 6, 6, 1});
    const nlohmann::json answer = TheOracle().Ask(passes.Request());
    passes.ExpectNear<double>(answer, 1e-12);
    passes.ExpectNear<float>(answer, 1e-5);
  }
}

}  // namespace
}  // namespace backplane::parity
