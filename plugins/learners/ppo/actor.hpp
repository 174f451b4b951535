// Chooses actions. Runners call it concurrently on disjoint rows; weights change only between calls.
#pragma once

#include <vector>

#include "backplane/learner.hpp"
#include "backplane/rng.h"
#include "net.hpp"
#include "normalizer.hpp"
#include "observed.hpp"
#include "options.hpp"

namespace backplane::ppo {

// Outputs of `act` behind the actions, in this order; kRawAction only if there are numbers. The memory, if there is one, is the
// last.
enum Output { kLogp, kValue, kRawAction };

class Actor {
 public:
  // `obs_norm` NULL: uses raw observations; otherwise it must outlive the actor. `sde_steps`: lifetime of a noise function in
  // steps.
  Actor(const Net& net, const EnvShape& shape, uint64_t rows, const ObsNormalizer* obs_norm, uint64_t sde_steps);

  // Uses changed parameters [net.size], which must stay valid until the next call. [control]
  void Refresh(const float* params);
  void Act(const bp_act& act);  // [rows]
  // Values of observations: numbers [n, obs], already normalised, images, and the memory before them, carry [n, net.carry()].
  // [control]
  void Values(int64_t n, const float* obs, const std::vector<Pixels>& images, const float* carry, float* out);

 private:
  struct Buffers {
    Workspace<float> work;
    Observed observed;
    int64_t rows = 0;  // of the call
    std::vector<float> obs;
    std::vector<double> noise, std, normals;
  };
  // The noise function of a row, drawn from `key`; cached, because all its steps use one draw.
  struct NoiseFunction {
    uint64_t key = 0;
    std::vector<double> normals;  // [latent, actions]; empty: not drawn
  };

  // The memory before and after the rows of a call.
  void FindPixels(const bp_act& act, Buffers* buffers) const;
  void ReadMemory(const bp_act& act, Buffers* buffers) const;
  void WriteMemory(const bp_act& act, const Buffers& buffers) const;
  void ActRow(const bp_act& act, int64_t row, const float* head, float value, const float* latent, Buffers* buffers);
  // Draws a Gaussian for the row; returns its log-probability.
  double DrawNumbers(const bp_act& act, const bp_tensor* out, int64_t row, const Distribution& part, const float* mean,
                     const float* latent, Buffers* buffers);
  const uint8_t* MaskOf(const bp_act& act, int64_t row) const {
    return bp::View<const uint8_t>(act.in[obs_channels_.size()], "action_mask").At(row);
  }
  const bp_tensor* Out(const bp_act& act, int output) const { return act.out[actions_.size() + static_cast<size_t>(output)]; }
  double DrawSde(const bp_act& act, int64_t row, const float* mean, const float* latent, Buffers* buffers, float* out);
  const double* Noise(const bp_act& act, int64_t row, Buffers* buffers);

  Net net_;
  std::vector<ObsChannel> obs_channels_;
  std::vector<ActionChannel> actions_;
  bool masked_;
  std::vector<float> low_, high_;
  const ObsNormalizer* obs_norm_;
  uint64_t sde_steps_;
  const float* params_ = nullptr;
  PackedNet<float> weights_;
  std::vector<double> std_;                     // exp(log_std)
  std::vector<NoiseFunction> noise_functions_;  // [rows]; each accessed only by the thread that acts for its row
  Workspace<float> value_work_;
};

}  // namespace backplane::ppo
