// The options of augmented random search as read from the experiment file.
#pragma once

#include <cstdint>
#include <vector>

#include "backplane/learner.hpp"
#include "policy.hpp"
#include "rl/env_shape.hpp"

namespace backplane::ars {

struct Options {
  explicit Options(const bp::Config& config);
  int64_t num_dirs, top_dirs, dir_chunk, episodes_per_dir, episode_length;  // top_dirs and dir_chunk: at most num_dirs, never 0
  double step_size, noise_std, shift, weight_decay, init_std;
  bool normalize_obs, bias, squash, ranks, adam;
  std::vector<int64_t> hidden;
  nn::Activation activation;
};

Policy MakePolicy(const Options& options, const rl::EnvShape& shape);  // throws bp::Unsupported with a sentence

}  // namespace backplane::ars
