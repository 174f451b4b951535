// The option `memory` of PPO and MAPPO.
#pragma once

#include <cstdint>

#include "on_policy/options.hpp"

namespace backplane::on_policy {

struct MemoryOptions {
  int64_t size = 0;       // of the state; 0: no memory
  int64_t sequence = 16;  // steps through which gradients flow
};

// Reads {kind: gru, size: 128, sequence: 16}, with these defaults; {} is no memory. Throws bp::ConfigError for other values,
// and for options of `others` that a memory excludes.
MemoryOptions ReadMemory(const bp::AnyValue& option, const Options& others, Device device, const bp::Config& config);

}  // namespace backplane::on_policy
