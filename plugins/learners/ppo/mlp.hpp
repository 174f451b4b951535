// Multi-layer perceptrons over one flat parameter buffer: where each weight lies, how it starts, and a forward pass without
// LibTorch whose result for a row does not depend on the other rows (BP_FLAG_ROW_EXACT).
#pragma once

#include <cstdint>
#include <vector>

namespace backplane::ppo {

enum class Activation { kTanh, kRelu };

// A linear layer: weights [in, out] at `weight`, biases [out] at `bias`, offsets into the flat buffer.
struct Layer {
  int64_t in, out, weight, bias;
};
using Mlp = std::vector<Layer>;

// Separate actor and critic. log_std [actions] only for continuous actions, else -1.
struct Net {
  Net(int64_t obs_size, const std::vector<int64_t>& hidden, int64_t n_actions, bool discrete_actions, Activation act);
  int64_t obs, actions;
  bool discrete;
  Activation activation;
  Mlp actor, critic;
  int64_t log_std = -1, size = 0, widest = 0;
};

// Fills `params` from Philox streams of `seed`: orthogonal weights with gains sqrt 2, 0.01 (policy head), 1 (value head), or
// uniform in +-1/sqrt(in) without `orthogonal`; biases 0.
void InitParams(const Net& net, uint64_t seed, bool orthogonal, double log_std, float* params);

constexpr int64_t kRowBlock = 4;
constexpr int64_t PadRows(int64_t rows) { return (rows + kRowBlock - 1) / kRowBlock * kRowBlock; }

// Buffers for Forward, grown as needed; one per thread.
struct Scratch {
  std::vector<float> a, b;
};
// out [rows, last layer's out] for x [rows, in]; `rows` is a multiple of kRowBlock.
void Forward(const Mlp& mlp, Activation activation, const float* params, const float* x, int64_t rows, Scratch* scratch, float* out);

// tanh by Eigen's rational approximation, within a few units in the last place: several times faster than libm's.
void TanhInPlace(float* values, int64_t n);

}  // namespace backplane::ppo
