#include "inverted_pendulum.hpp"

struct InvertedPendulumPlugin : inverted_pendulum::InvertedPendulum {
  using InvertedPendulum::InvertedPendulum;
  static constexpr bp::About kAbout{.id = "env.inverted_pendulum",
                                    .version = "1.0.0",
                                    .summary = "Balance a pole on a cart: InvertedPendulum-v5 of Gymnasium on MuJoCo.",
                                    .aliases = "InvertedPendulum-v5",
                                    .rows = 32};
};

BP_PLUGINS(bp::Env<InvertedPendulumPlugin>);
