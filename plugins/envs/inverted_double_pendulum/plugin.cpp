#include "inverted_double_pendulum.hpp"

struct InvertedDoublePendulumPlugin : inverted_double_pendulum::InvertedDoublePendulum {
  using InvertedDoublePendulum::InvertedDoublePendulum;
  static constexpr bp::About kAbout{.id = "env.inverted_double_pendulum",
                                    .version = "1.0.0",
                                    .summary = "Balance two poles on a cart: InvertedDoublePendulum-v5 of Gymnasium on MuJoCo.",
                                    .aliases = "InvertedDoublePendulum-v5",
                                    .rows = 32};
};

BP_PLUGINS(bp::Env<InvertedDoublePendulumPlugin>);
