#include "options.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace backplane::ars {

Options::Options(const bp::Config& c)
    : num_dirs(c.I64("num_dirs")),
      top_dirs(c.I64("top_dirs")),
      dir_chunk(c.I64("dir_chunk")),
      episodes_per_dir(c.I64("episodes_per_dir")),
      episode_length(c.I64("episode_length")),
      step_size(c.F64("step_size")),
      noise_std(c.F64("noise_std")),
      shift(c.F64("shift")),
      weight_decay(c.F64("weight_decay")),
      init_std(c.F64("init_std")),
      normalize_obs(c.Bool("normalize_obs")),
      squash(c.Bool("squash_output")),
      ranks(c.Str("shaping") == "centred_ranks"),
      adam(c.Str("optimizer") == "adam"),
      activation(c.Str("activation") == "relu" ? nn::Activation::kRelu : nn::Activation::kTanh) {
  for (double size : c.List("hidden")) hidden.push_back(static_cast<int64_t>(size));
  const std::string wanted_bias = c.Str("bias");
  bias = wanted_bias == "auto" ? !hidden.empty() : wanted_bias == "true";
  if (top_dirs > num_dirs) {
    throw bp::ConfigError("top_dirs should be at most num_dirs (" + std::to_string(num_dirs) + "), got " +
                          std::to_string(top_dirs));
  }
  if (top_dirs == 0) top_dirs = num_dirs;
  dir_chunk = dir_chunk == 0 ? num_dirs : std::min(dir_chunk, num_dirs);
  if (const double offset = c.F64("alive_bonus_offset"); offset != 0) {
    if (shift != 0) {
      throw bp::ConfigError("shift and alive_bonus_offset say the same with opposite signs; keep one of them");
    }
    shift = -offset;
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
  return Policy({.obs = shape.obs, .outputs = shape.actions, .hidden = o.hidden, .bias = o.bias, .activation = o.activation});
}

}  // namespace backplane::ars
