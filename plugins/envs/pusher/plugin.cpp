#include "pusher.hpp"

struct PusherPlugin : pusher::Pusher {
  using Pusher::Pusher;
  static constexpr bp::About kAbout{.id = "env.pusher",
                                    .version = "1.0.0",
                                    .summary = "An arm learns to push a cylinder to a goal: Pusher-v5 of Gymnasium on MuJoCo.",
                                    .aliases = "Pusher-v5",
                                    .rows = 32};
};

BP_PLUGINS(bp::Env<PusherPlugin>);
