// What LibTorch offers the learner; no header of LibTorch is needed here.
#pragma once

#include <memory>
#include <string>

#include "model.hpp"

namespace backplane::mappo {

// By autograd, on a device; parameters and gradients stay float32 in the caller's flat buffers.
class TorchModel : public Model {
 public:
  // Mixed precision: layers in bfloat16, losses and sums in float32.
  virtual void UseAmp(bool on) = 0;
  // The same delivery with all but observations and states copied to the host, where it is on a device; valid until the next
  // call.
  virtual bp::Delivery OnHost(const bp::Delivery& delivery) = 0;
};
// Throws bp::ConfigError where LibTorch has no such device.
std::unique_ptr<TorchModel> MakeTorchModel(const Net& net, const EnvShape& shape, bp_device device, const bp_host* host);

// What follows from the times of a gradient in float32 and in mixed precision, in ms: mixed precision from a gain of 1.2 on.
struct AmpChoice {
  bool on;
  std::string text;
};
AmpChoice ChooseAmp(double plain_ms, double amp_ms);
// Times a few gradients of the minibatch both ways, chooses, and says so in the log and among the facts of the run.
void ProbeAmp(const bp_host* host, const Minibatch& batch, const LossOptions& options, const float* params, int64_t size,
              TorchModel* model);

// Acting on a device. Not exact by row: the products choose their order by the size of the range.
class TorchActor {
 public:
  virtual ~TorchActor() = default;
  virtual void Refresh(const float* params) = 0;  // [control]
  virtual void Act(const bp_act& act) const = 0;  // [rows]
};
std::unique_ptr<TorchActor> MakeTorchActor(const Net& net, const EnvShape& shape, bp_device device, const bp_host* host);

}  // namespace backplane::mappo
