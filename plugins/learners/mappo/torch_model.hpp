// The learner's interface to LibTorch; needs none of its headers.
#pragma once

#include <memory>
#include <string>

#include "model.hpp"

namespace backplane::mappo {

// Uses autograd on a device; parameters and gradients stay float32 in the caller's flat buffers.
class TorchModel : public Model {
 public:
  // Mixed precision of layers; losses and sums stay float32.
  virtual void UseAmp(Amp amp) = 0;
  virtual void AllowSmallerParts(bool allowed) = 0;  // of a minibatch that does not fit into the device's memory
  // The same delivery on the host, without copies of observations and states if it is on a device; valid until the next call.
  virtual bp::Delivery OnHost(const bp::Delivery& delivery) = 0;
};
std::unique_ptr<TorchModel> MakeTorchModel(const Net& net, const EnvShape& shape, const TorchOptions& options,
                                           const bp_host* host);

// Decides by the times of a gradient in float32 and in mixed precision, in ms: mixed precision from a speed-up of 1.2.
struct AmpChoice {
  bool on;
  std::string text;
};
AmpChoice ChooseAmp(double plain_ms, double amp_ms);
// Times some gradients of the minibatch both ways, chooses, and reports the choice in the log and the facts.
void ProbeAmp(const bp_host* host, const Minibatch& batch, const LossOptions& options, const float* params, int64_t size,
              TorchModel* model);

// Acts on a device. Not exact by row, because products choose their order by the size of the range.
class TorchActor {
 public:
  virtual ~TorchActor() = default;
  virtual void Refresh(const float* params) = 0;  // [control]
  virtual void Act(const bp_act& act) const = 0;  // [rows]
};
std::unique_ptr<TorchActor> MakeTorchActor(const Net& net, const EnvShape& shape, bp_device device, const bp_host* host);

}  // namespace backplane::mappo
