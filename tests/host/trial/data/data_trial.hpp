// The fixtures' data set and learner as instances in the test program.
#pragma once

#include <memory>

#include "data/data_loader.hpp"
#include "data_plugins.hpp"

namespace backplane {

const bp_module& DataModule();

struct DataTrial {
  explicit DataTrial(const nlohmann::json& env_options = {}, const nlohmann::json& learner_options = {});
  Adds& adds() { return *reinterpret_cast<Adds*>(learner->handle()); }

  std::atomic<bool> cancelled{false};
  HostSinks sinks;
  std::unique_ptr<LoadedModule> module;
  std::unique_ptr<EnvInstance> env;
  std::unique_ptr<LearnerInstance> learner;
};

// The limits for a learner without a budget.
bp_limits LimitsOf(uint64_t items, uint64_t device_bytes);

}  // namespace backplane
