// Options of the multi-UAV grid for tests that make no plugin: the defaults of its table, with some replaced.
#pragma once

#include <iterator>

#include "support/env_harness.hpp"
#include "uav/rules.hpp"

namespace backplane::uav {

// Throws as Options does.
inline Options OptionsWith(const nlohmann::json& given = nlohmann::json::object()) {
  bp_descriptor descriptor{};
  descriptor.params = kOptions;
  descriptor.n_params = std::size(kOptions);
  const harness::FakeConfig config(descriptor, given);
  return Options(bp::Config(config.get()));
}

}  // namespace backplane::uav
