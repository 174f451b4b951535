// Makes the engine that `engine.kind` names.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "batch/engine.hpp"
#include "cluster/engine_needs.hpp"
#include "record/batch_record.hpp"

namespace backplane {

struct MadeEngine {
  std::unique_ptr<Engine> engine;
  size_t at_once = 0;  // trials that fit in the cluster; 0: this machine's resources set the limit
};

// Throws std::runtime_error with a sentence if the cluster is not available.
MadeEngine MakeEngine(const EngineRequest& request);

// The values of `engine.kind`; the local engine comes first.
std::vector<std::string> EngineKinds();

// A sentence with a fix if programs or packages of the engine are missing. Empty: they are installed, or the engine is local.
// Does not contact the cluster.
std::string WhyNoEngine(const EngineConfig& config);

// Ends jobs that a killed session left in a cluster: the workers end their trials with a checkpoint, and the rest is cancelled.
// Returns a sentence about them; empty: there were none.
std::string EndClusterJobs(const std::filesystem::path& out, const BatchRecord& record);

}  // namespace backplane
