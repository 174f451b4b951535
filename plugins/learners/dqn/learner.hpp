// The DQN learner as the host sees it.
#pragma once

#include "actor.hpp"
#include "epsilon.hpp"
#include "off_policy/learner.hpp"
#include "options.hpp"
#include "state.hpp"
#include "trainer.hpp"

namespace backplane::dqn {

class Learner : public off_policy::Learner<Trainer<float>> {
 public:
  explicit Learner(const bp::LearnerSetup& setup);

  void OnLimits(const bp_limits& limits) override {
    off_policy::Learner<Trainer<float>>::OnLimits(limits);
    epsilon_.OnProgress(limits.progress);
  }
  void OnPart(const bp::Delivery& part) override;
  void OnIteration(uint64_t updates) override;
  void Act(const bp_act& act) override;
  void Tensors(bp::NamedTensors* out) const;

 protected:
  void Learn(uint64_t number) override;
  void SaveExploration(const bp::Writer& writer, bool ended) const override { epsilon_.Save(writer, ended); }
  void LoadExploration(const bp::Reader& reader) override { epsilon_.Load(reader); }
  void EndExploration() override { epsilon_.End(); }

 private:
  Learner(const bp::LearnerSetup& setup, const Options& options, const rl::EnvShape& shape);
  Learner(const bp::LearnerSetup& setup, const Options& options, const rl::EnvShape& shape, const Net& net);

  Actor actor_;
  Epsilon epsilon_;
  uint64_t target_frames_;  // between updates of the target network
  bp::Metrics metrics_;
};

}  // namespace backplane::dqn
