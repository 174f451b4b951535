// The plugin's class, for its entry.
#pragma once

#include "learner.hpp"

namespace backplane::mappo {

class Mappo : public Learner, public bp::LearnerPlugin<Mappo> {
 public:
  static constexpr bp::About kAbout{.id = "learner.mappo",
                                    .version = "1.0.0",
                                    .summary = "Multi-agent PPO with one actor for all agents and a critic that sees the state",
                                    .flags = BP_FLAG_ROWS_CONCURRENT,
                                    .aliases = "MAPPO"};
  static constexpr bool kServesDevices = true;
  static constexpr auto& kOptions = mappo::kOptions;
  using Learner::Learner;
};

}  // namespace backplane::mappo
