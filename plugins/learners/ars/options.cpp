#include "options.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace backplane::ars {

void Options::Check(const bp::Config&) {
  if (!bias) bias = !hidden.empty();
  if (top_dirs > num_dirs) {
    throw bp::ConfigError("top_dirs should be at most num_dirs (" + std::to_string(num_dirs) + "), got " +
                          std::to_string(top_dirs));
  }
  if (top_dirs == 0) top_dirs = num_dirs;
  dir_chunk = dir_chunk == 0 ? num_dirs : std::min(dir_chunk, num_dirs);
  if (alive_bonus_offset != 0) {
    if (shift != 0) {
      throw bp::ConfigError("shift and alive_bonus_offset say the same with opposite signs; keep one of them");
    }
    shift = -alive_bonus_offset;
  }
}

Policy MakePolicy(const Options& o, const rl::EnvShape& shape) {
  if (o.squash && shape.discrete) {
    throw bp::Unsupported("squash_output brings continuous actions into their bounds, the env's are discrete");
  }
  const auto bounded = [](float x) { return std::isfinite(x); };
  if (o.squash && !(std::ranges::all_of(shape.low, bounded) && std::ranges::all_of(shape.high, bounded))) {
    throw bp::Unsupported("squash_output needs bounds on both sides of channel '" + shape.action_name + "'");
  }
  return Policy({.obs = shape.obs, .outputs = shape.actions, .hidden = o.hidden, .bias = *o.bias, .activation = o.activation});
}

}  // namespace backplane::ars
