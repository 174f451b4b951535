// The plugin's class, for its entry.
#pragma once

#include "learner.hpp"

namespace backplane::dqn {

class Dqn : public Learner, public bp::LearnerPlugin<Dqn> {
 public:
  static constexpr bp::About kAbout{.id = "learner.dqn",
                                    .version = "1.0.0",
                                    .summary = "Deep Q-network for discrete actions",
                                    .flags = BP_FLAG_ROWS_CONCURRENT | BP_FLAG_ROW_EXACT,
                                    .aliases = "DQN"};
  static constexpr auto& kOptions = dqn::kOptions;
  using Learner::Learner;
};

}  // namespace backplane::dqn
