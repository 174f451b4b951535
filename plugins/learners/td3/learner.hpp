// The TD3 learner as the host sees it.
#pragma once

#include <vector>

#include "actor.hpp"
#include "off_policy/learner.hpp"
#include "options.hpp"
#include "state.hpp"
#include "trainer.hpp"

namespace backplane::td3 {

class Learner : public off_policy::Learner<Trainer<float>> {
 public:
  explicit Learner(const bp::LearnerSetup& setup);

  void OnIteration(uint64_t updates) override;
  void Act(const bp_act& act) override {
    actor_.Act(act, trainer_.actor_weights(), trainer_.actor().params(), ActsRandomly(act));
  }
  void Tensors(bp::NamedTensors* out) const;

 protected:
  void Learn(uint64_t number) override;

 private:
  Learner(const bp::LearnerSetup& setup, const Options& options, const rl::EnvShape& shape);
  Learner(const bp::LearnerSetup& setup, const Options& options, const rl::EnvShape& shape, const Net& net);

  Actor actor_;
  bp::Metrics metrics_;
  std::vector<float> noise_;  // of a gradient step
};

}  // namespace backplane::td3
