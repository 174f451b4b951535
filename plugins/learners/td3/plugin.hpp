// The plugin's class, for its entry.
#pragma once

#include "learner.hpp"

namespace backplane::td3 {

class Td3 : public Learner, public bp::LearnerPlugin<Td3> {
 public:
  static constexpr bp::About kAbout{.id = "learner.td3",
                                    .version = "1.0.0",
                                    .summary = "Twin delayed deterministic policy gradient for continuous actions",
                                    .flags = BP_FLAG_ROWS_CONCURRENT | BP_FLAG_ROW_EXACT,
                                    .aliases = "TD3"};
  static constexpr auto& kOptions = td3::kOptions;
  using Learner::Learner;
};

}  // namespace backplane::td3
