// The plugin's class, for its entry.
#pragma once

#include "learner.hpp"

namespace backplane::sac {

class Sac : public Learner, public bp::LearnerPlugin<Sac> {
 public:
  static constexpr bp::About kAbout{.id = "learner.sac",
                                    .version = "1.0.0",
                                    .summary = "Soft actor-critic for continuous actions",
                                    .flags = BP_FLAG_ROWS_CONCURRENT | BP_FLAG_ROW_EXACT,
                                    .aliases = "SAC"};
  static constexpr auto& kOptions = sac::kOptions;
  using Learner::Learner;
};

}  // namespace backplane::sac
