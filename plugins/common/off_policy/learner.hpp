// A learner with a replay buffer as the host sees it: storing, gradient steps, saved states, starts from a policy.
#pragma once

#include <string>

#include "backplane/off_policy.hpp"
#include "off_policy/experience.hpp"
#include "on_policy/amp.hpp"
#include "on_policy/torch_memory.hpp"

namespace backplane::off_policy {

// Trainer has net(), options(), updates(), errors(), Refresh(copy_targets), UseGradients and Part; next to it are WriteTrainer,
// ReadTrainer, WritePolicy and ReadPolicy (see plugins/learners/sac/state.hpp).
template <class Trainer>
class Learner : public bp::OffPolicy {
 public:
  const bp_learner_spec* Spec() const override { return spec_.raw(); }
  void OnPart(const bp::Delivery& part) override { experience_.Store(part); }
  bool OnUpdate() override {
    const uint64_t number = trainer_.updates();
    {
      const bp::PhaseScope phase(host(), BP_PHASE_BATCH_BUILD);
      if (!experience_.Draw(number, &batch_)) return false;
    }
    const bp::PhaseScope phase(host(), BP_PHASE_UPDATE_BACKWARD);
    memory_.NoteTensors();
    Learn(number);
    experience_.SetPriorities(trainer_.errors().data());
    return true;
  }

  void OnLimits(const bp_limits& limits) override {
    if (BP_HAS(&limits, device_bytes)) memory_.Limit(host(), limits.device_bytes);
  }
  bp_device_use DeviceUse() const { return memory_.Use(); }
  void ResetPeak() { memory_.ResetPeak(); }

  // The complete state, except the content of the replay buffer, which is a file of the trial.
  void Save(const bp::Writer& writer) const {
    WriteTrainer(writer, trainer_);
    SaveSchedule(writer);
    SaveExploration(writer, false);
    experience_.Save(writer);
  }
  void Load(const bp::Reader& reader) {
    ReadTrainer(reader, &trainer_);
    LoadSchedule(reader);
    LoadExploration(reader);
    experience_.Load(reader);
    trainer_.Refresh(false);
    if (experience_.frames() != frames()) BeginEmpty();  // in a next stage
  }
  // The networks, without optimisers and buffer.
  void SavePolicy(const bp::Writer& writer) const {
    WritePolicy(writer, trainer_);
    SaveRandom(writer);
    SaveExploration(writer, !planned());  // before the first plan, a policy is one to begin with
  }
  void LoadPolicy(const bp::Reader& reader) {
    ReadPolicy(reader, &trainer_);
    LoadRandom(reader);
    LoadExploration(reader);
    trainer_.Refresh(false);
  }
  // The loaded policy acts from the first step.
  void StartPolicy(const bp::Reader& reader) {
    LoadPolicy(reader);
    BeginEmpty();
  }
  std::string PolicyForm() const { return policy_form_; }

 protected:
  // The env's action and `stored` are the outputs of `act`, in this order.
  Learner(const bp::LearnerSetup& setup, const Options& options, const rl::EnvShape& shape, const StoredAction& stored,
          Trainer trainer, int64_t params)
      : OffPolicy(setup, ScheduleOf(options)),
        seed_(setup.seed),
        trainer_(std::move(trainer)),
        experience_(setup, options, shape, stored) {
    spec_.ActIn(shape.obs_name);
    if (!shape.mask_name.empty()) spec_.ActIn(shape.mask_name);
    for (const char* name : {shape.obs_name.c_str(), "reward", "terminated", "truncated"}) spec_.Keep(name);
    spec_.ActOut(shape.action);
    spec_.Extra(stored.name, {stored.width});
    spec_.set_params(static_cast<uint64_t>(params));
    spec_.set_flags(BP_LEARNER_STATE_LARGE);
    ChooseDevice(options);
  }

  // Gradient step `number` along batch_.
  virtual void Learn(uint64_t number) = 0;

  // A schedule of exploration, part of the state and of the policy. `ended`: as after EndExploration, which is called if a
  // loaded policy acts from the first step.
  virtual void SaveExploration(const bp::Writer& /*writer*/, bool /*ended*/) const {}
  virtual void LoadExploration(const bp::Reader& /*reader*/) {}
  virtual void EndExploration() {}

  uint64_t seed_;
  Trainer trainer_;
  Experience experience_;
  bp::LearnerSpec spec_;
  std::string policy_form_;
  Batch<float> batch_;

 private:
  // All nets are multi-layer perceptrons, so the implementation is the fused one unless an option requires a GPU.
  void ChooseDevice(const Options& options) {
    const UpdateDevice update = DeviceOfUpdates(host(), options.device, options.update_path);
    if (update.torch) UseTorch(options, update.gpu);
    if (!update.torch && options.use_amp != Amp::kOff)
      throw bp::ConfigError("use_amp: expected a GPU (resources.gpus) or update_path: torch, got fused updates on the CPU");
    bp::RecordFact(host(), "update_path", update.torch ? "torch" : "fused");
    bp::RecordFact(host(), "device", update.gpu ? "cuda" : "cpu");
    if (options.use_amp != Amp::kOff) bp::RecordFact(host(), "use_amp", "on");
  }
  void UseTorch(const Options& options, bool gpu) {
    if (gpu && bp::GrantedGpus(host()) > 1)
      throw bp::ConfigError("resources.gpus: expected at most 1, which is all that the learner uses, got " +
                            std::to_string(bp::GrantedGpus(host())));
    const auto& torch = bp::OpenPart<typename Trainer::Part>(host(), "torch");
    if (gpu && !torch.has_cuda()) throw NoGpu(options.device);
    const TorchOptions on = TorchOptionsFor(host(), gpu, 1, options.use_amp);
    memory_ = TorchMemory(torch.memory, on.devices.front());
    trainer_.UseGradients(torch.gradients(trainer_.net(), trainer_.options(), host(), on));
  }

  // The loaded policy acts from the first step, with an empty ring.
  void BeginEmpty() {
    BeginWithPolicy();
    EndExploration();
    bp::RecordFact(host(), "replay", "empty at the start, with a loaded policy");
    experience_.Clear();
  }

  TorchMemory memory_;
};

}  // namespace backplane::off_policy
