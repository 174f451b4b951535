#include "rows.hpp"

#include <algorithm>

#include "nn/sines.hpp"

namespace cartpole {
namespace {

using namespace backplane::nn;

// Pointers to the first row of a call.
struct Place {
  double *x, *x_dot, *theta, *theta_dot;
  const int32_t* action;
  float* obs;
  uint8_t* fallen;

  void MoveOn(int64_t rows) {
    x += rows, x_dot += rows, theta += rows, theta_dot += rows;
    action += rows, obs += 4 * rows, fallen += rows;
  }
};

void StepOne(const Place& at) {
  State state{*at.x, *at.x_dot, *at.theta, *at.theta_dot};
  state.Step(*at.action == 1);
  *at.x = state.x, *at.x_dot = state.x_dot, *at.theta = state.theta, *at.theta_dot = state.theta_dot;
  state.Observe(at.obs);
  *at.fallen = state.Fallen();
}

// A vector of T with as many lanes as a vector of doubles.
template <class T, Isa isa>
struct NarrowOf {
  typedef T type __attribute__((vector_size(sizeof(T) * kLanes<double, isa>)));
};
template <class T, Isa isa>
using Narrow = typename NarrowOf<T, isa>::type;

// Two floats a lane, the first in its lower half.
template <Isa isa>
BP_NN_INLINE void Pair(const Vec<double, isa>& first, const Vec<double, isa>& second, Vec<uint64_t, isa>* out) {
  using Wide = Vec<uint64_t, isa>;
  const auto low = (Narrow<uint32_t, isa>)__builtin_convertvector(first, Narrow<float, isa>);
  const auto high = (Narrow<uint32_t, isa>)__builtin_convertvector(second, Narrow<float, isa>);
  *out = __builtin_convertvector(low, Wide) | (__builtin_convertvector(high, Wide) << 32);
}

// Interleaves the lanes of a and b, the lower halves first.
template <Isa isa>
BP_NN_INLINE void Interleave(const Vec<uint64_t, isa>& a, const Vec<uint64_t, isa>& b, Vec<uint64_t, isa>* lower,
                             Vec<uint64_t, isa>* upper) {
  if constexpr (kLanes<double, isa> == 8) {
    *lower = __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
    *upper = __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
  } else if constexpr (kLanes<double, isa> == 4) {
    *lower = __builtin_shufflevector(a, b, 0, 4, 1, 5);
    *upper = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  } else {
    *lower = __builtin_shufflevector(a, b, 0, 2);
    *upper = __builtin_shufflevector(a, b, 1, 3);
  }
}

template <Isa isa>
BP_NN_INLINE void StepLanes(const Place& at, const double* sines, const double* cosines, uint64_t* fallen) {
  using V = Vec<double, isa>;
  using Bits = Vec<int64_t, isa>;
  V x, x_dot, theta, theta_dot, sine, cosine;
  Narrow<int32_t, isa> action;
  Load(at.x, &x), Load(at.x_dot, &x_dot), Load(at.theta, &theta), Load(at.theta_dot, &theta_dot);
  Load(sines, &sine), Load(cosines, &cosine), Load(at.action, &action);
  // Signs are cheaper than comparisons of whole vectors: a nonzero number or its negation has one.
  const Bits other = __builtin_convertvector(action ^ 1, Bits), sign = (other | -other) & INT64_MIN;
  const V force = (V)((Bits)(V{} + kForce) | sign);
  Advance(force, sine, cosine, &x, &x_dot, &theta, &theta_dot);
  Store(x, at.x), Store(x_dot, at.x_dot), Store(theta, at.theta), Store(theta_dot, at.theta_dot);
  Vec<uint64_t, isa> cart, pole, lower, upper;
  Pair<isa>(x, x_dot, &cart), Pair<isa>(theta, theta_dot, &pole);
  Interleave<isa>(cart, pole, &lower, &upper);
  Store((Vec<float, isa>)lower, at.obs), Store((Vec<float, isa>)upper, at.obs + 2 * kLanes<double, isa>);
  const V in_x = kXLimit - (V)((Bits)x & INT64_MAX), in_theta = kThetaLimit - (V)((Bits)theta & INT64_MAX);
  Store((Vec<uint64_t, isa>)((Bits)in_x | (Bits)in_theta) >> 63, fallen);
}

struct StepLoop {
  template <Isa isa>
  static BP_NN_INLINE void Run(Place at, int64_t n) {
    constexpr int64_t lanes = kLanes<double, isa>;
    double sines[kMostAngles], cosines[kMostAngles];
    uint64_t fallen[kMostAngles];
    while (n >= lanes) {
      const int64_t rows = std::min(n - n % lanes, kMostAngles);
      SinesAndCosines<isa>(at.theta, rows, sines, cosines);
      uint8_t* const flags = at.fallen;
      for (int64_t i = 0; i < rows; i += lanes, at.MoveOn(lanes)) StepLanes<isa>(at, sines + i, cosines + i, fallen + i);
      for (int64_t i = 0; i < rows; ++i) flags[i] = static_cast<uint8_t>(fallen[i]);
      n -= rows;
    }
    for (; n > 0; --n, at.MoveOn(1)) StepOne(at);
  }
};

}  // namespace

void Rows::Step(uint64_t begin, uint64_t end, const int32_t* action, float* obs, uint8_t* fallen) {
  const Place at{&x_[begin], &x_dot_[begin], &theta_[begin], &theta_dot_[begin], action, obs, fallen};
  Dispatch<StepLoop>(at, static_cast<int64_t>(end - begin));
}

}  // namespace cartpole
