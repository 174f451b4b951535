// The learner as the host sees it: updates from micro-batches, held-out loss, generation.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "backplane/data_learner.hpp"
#include "backplane/monitor.hpp"
#include "options.hpp"

namespace backplane::seq2seq {

class Learner : public bp::DataLearner {
 public:
  // Throws bp::Error if the env's spaces or the options are not supported.
  explicit Learner(const bp::LearnerSetup& setup);

  const bp_learner_spec* Spec() const override { return spec_.raw(); }
  void OnLimits(const bp_limits& limits) override;
  void Act(const bp_act& act) override;
  double HeldOutLoss(const bp::Delivery& micro_batch) const;
  bp_device_use DeviceUse() const;
  void ResetPeak();
  void Save(const bp::Writer& writer) const;
  void Load(const bp::Reader& reader);
  // Empty on a GPU, because every update would have to copy them.
  void Tensors(bp::NamedTensors* out) const;

 private:
  Learner(const bp::LearnerSetup& setup, const EnvShape& shape);
  bp::DataRequest NextGroup() override;
  void OnMicroBatch(const bp::Delivery& delivery) override;

  MicroBatch View(const bp::Delivery& delivery) const;
  void NeedWantedSize(const bp_delivery& first, const MicroBatch& batch) const;
  void RunPending(const bp_delivery& last);
  void DropGroup();
  void Update();
  uint64_t StepsDone() const;
  void ForgetTokens() { real_tokens_ = padded_tokens_ = 0; }
  void WriteRows(const bp_act& act, uint64_t begin, int64_t n) const;

  Options options_;
  EnvShape shape_;
  uint64_t seed_;
  Chosen chosen_;
  const BartConfig& config_ = chosen_.network;
  GenerateOptions generate_;
  std::unique_ptr<Model> model_;
  bp::LearnerSpec spec_;
  bp::Metrics metrics_;

  bool told_no_limit_ = false;
  uint64_t skipped_before_ = 0;                 // updates that earlier stages skipped
  uint64_t total_updates_ = 0;                  // of the trial; 0: unknown
  std::vector<MicroBatch> pending_;             // wait for a worker each
  std::vector<double> losses_;                  // of the group's micro-batches
  double real_tokens_ = 0, padded_tokens_ = 0;  // of the group
};

}  // namespace backplane::seq2seq
