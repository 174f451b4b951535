// The plugin's entry.
#include "learner.hpp"

namespace backplane::ars {

class Ars : public Learner, public bp::LearnerPlugin<Ars> {
 public:
  static constexpr bp::About kAbout{.id = "learner.ars",
                                    .version = "1.0.0",
                                    .summary = "Augmented random search, linear policies and small networks, no gradients",
                                    .flags = BP_FLAG_ROWS_CONCURRENT | BP_FLAG_ROW_EXACT,
                                    .aliases = "ARS"};
  static constexpr auto& kOptions = ars::kOptions;
  using Learner::Learner;
};

}  // namespace backplane::ars

using backplane::ars::Ars;
BP_PLUGINS(Ars);
