// The plugin's class, for its entry.
#pragma once

#include "learner.hpp"

namespace backplane::ppo {

class Ppo : public Learner, public bp::LearnerPlugin<Ppo> {
 public:
  static constexpr bp::About kAbout{.id = "learner.ppo",
                                    .version = "1.0.0",
                                    .summary = "Proximal policy optimisation for continuous and discrete actions and images",
                                    .flags = BP_FLAG_ROWS_CONCURRENT | BP_FLAG_ROW_EXACT,
                                    .aliases = "PPO"};
  static constexpr auto& kOptions = ppo::kOptions;
  using Learner::Learner;
};

}  // namespace backplane::ppo
