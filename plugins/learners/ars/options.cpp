#include "options.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace backplane::ars {

void Options::Check(const bp::Config&) {
  if (!bias) bias = !hidden.empty();
  if (top_dirs > num_dirs) {
    throw bp::ConfigError("top_dirs: expected at most num_dirs (" + std::to_string(num_dirs) + "), got " +
                          std::to_string(top_dirs));
  }
  if (top_dirs == 0) top_dirs = num_dirs;
  dir_chunk = dir_chunk == 0 ? num_dirs : std::min(dir_chunk, num_dirs);
  if (alive_bonus_offset != 0) {
    if (shift != 0) {
      throw bp::ConfigError("expected shift or alive_bonus_offset, which is the same with the opposite sign, got both");
    }
    shift = -alive_bonus_offset;
  }
}

Policy MakePolicy(const Options& o, const rl::EnvShape& shape) {
  if (o.squash && shape.discrete) {
    throw bp::Unsupported("squash_output: expected continuous actions, got discrete ones");
  }
  const auto bounded = [](float x) { return std::isfinite(x); };
  if (o.squash && !(std::ranges::all_of(shape.low, bounded) && std::ranges::all_of(shape.high, bounded))) {
    throw bp::Unsupported("squash_output: expected two finite bounds of channel '" + shape.action_name + "', got fewer");
  }
  return Policy({.obs = shape.obs, .outputs = shape.actions, .hidden = o.hidden, .bias = *o.bias, .activation = o.activation});
}

}  // namespace backplane::ars
