// The properties of an env that PPO needs: observations, and actions as distributions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backplane/learner.hpp"
#include "nn/conv.hpp"
#include "on_policy/distributions.hpp"

namespace backplane::ppo {

struct ObsChannel {
  std::string name, final_name;  // final_name: of the last observations of episodes
  int64_t size;
  std::optional<nn::Image> image;  // for a convolutional net; else `size` numbers
};

struct ActionChannel {
  std::string name;
  uint16_t space;    // BP_SPACE_*
  int64_t elements;  // per row
  size_t first, n;   // its distributions
};

struct EnvShape {
  // Without `images`, those are numbers like other observations. Throws bp::Unsupported with a reason.
  explicit EnvShape(const bp_env_spec* env, bool images = true);
  std::string mask_name;  // empty: no mask
  std::vector<ObsChannel> observed;
  std::vector<nn::Image> images;  // of these channels, in their order
  int64_t obs = 0;                // numbers of the others in total
  std::vector<ActionChannel> actions;
  on_policy::Distributions distributions;
  std::vector<float> low, high;                 // of each number, infinite if unbounded
  std::vector<const bp_channel*> declarations;  // of the actions; borrowed, only for the constructor
};

}  // namespace backplane::ppo
