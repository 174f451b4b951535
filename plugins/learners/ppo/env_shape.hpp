// The properties of an env that PPO needs: observations, and actions as distributions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backplane/learner.hpp"
#include "nn/conv.hpp"
#include "on_policy/action_channels.hpp"

namespace backplane::ppo {

struct ObsChannel {
  std::string name, final_name;  // final_name: of the last observations of episodes
  int64_t size;
  std::optional<nn::Image> image;  // for a convolutional net; else `size` numbers
};

using on_policy::ActionChannel;

struct EnvShape : on_policy::ActionChannels {
  // Without `images`, those are numbers like other observations. Throws bp::Unsupported with a reason.
  explicit EnvShape(const bp_env_spec* env, bool images = true);
  std::string mask_name;  // empty: no mask
  std::vector<ObsChannel> observed;
  std::vector<nn::Image> images;  // of these channels, in their order
  int64_t obs = 0;                // numbers of the others in total
};

}  // namespace backplane::ppo
