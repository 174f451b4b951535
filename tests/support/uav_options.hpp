// Options of the multi-UAV grid for tests without a plugin: its table's defaults, with some replaced.
#pragma once

#include "support/env_harness.hpp"
#include "uav/rules.hpp"

namespace backplane::uav {

// Throws as Options does.
inline Options OptionsWith(const nlohmann::json& given = nlohmann::json::object()) {
  const bp::detail::ParamList params = kOptions.Params();
  bp_descriptor descriptor{};
  descriptor.params = params.params().data();
  descriptor.n_params = params.params().size();
  const harness::FakeConfig config(descriptor, given);
  return kOptions.Read(bp::Config(config.get()));
}

}  // namespace backplane::uav
