// Serves a learner of a data set. One group of items, in micro-batches that fit its device, is an iteration and an update.
#pragma once

#include <memory>

#include "data/data_loader.hpp"
#include "data/held_out_pieces.hpp"
#include "trial/collecting.hpp"
#include "trial/loop_state.hpp"
#include "trial/warnings.hpp"

namespace backplane {

class CollectData : public Collecting {
 public:
  CollectData(const LoopParts& parts, LoopState& state, WarningList& warnings)
      : parts_(parts), state_(state), warnings_(warnings) {}

  void Check(const bp_request& request) const override;
  void Prepare(const bp_request& request) override { Loader().Prepare(request); }
  bool Collect(const bp_request& request) override;
  void Save(Checkpoint* checkpoint) override;
  void Load(const Checkpoint& checkpoint) override;

  void Limit(bp_limits* limits) const;  // sets its limits for the learner's next plan
  std::optional<DataResult> Result() const;
  bool started() const { return loader_ != nullptr; }  // the learner has requested a group
  double epochs() const { return loader_ ? loader_->epochs() : 0; }
  bool HasHeldOutLoss() const { return loader_ && loader_->HasHeldOutLoss(); }
  // The loss on held-out items; absent without them, or if the learner does not report it.
  std::optional<HeldOut> HeldOutLoss(EnvInstance& env) {
    return loader_ ? loader_->HeldOutLoss(env, env.rows()) : std::nullopt;
  }
  // The same, computed by the threads that play, `piece` rows at a time. NULL if the learner is not thread-safe here.
  std::unique_ptr<HeldOutPieces> HeldOutInPieces(EnvInstance& env, uint64_t piece);

 private:
  DataLoader& Loader();
  void Record();
  void TellShrinks();

  const LoopParts& parts_;
  LoopState& state_;
  WarningList& warnings_;
  std::unique_ptr<DataLoader> loader_;  // created by the first request
  size_t shrinks_told_ = 0;
};

}  // namespace backplane
