// The engines, by the word of `engine.kind`.
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
  size_t at_once = 0;  // trials that a cluster has room for; 0: the resources of this machine set the limit
};

// Throws std::runtime_error with a sentence if there is no such cluster here.
MadeEngine MakeEngine(const EngineRequest& request);

// The words of `engine.kind`, this machine's first.
std::vector<std::string> EngineKinds();

// Why an engine would not start here as far as its programs and packages are concerned, and what to do; empty: they are there,
// or it is the local one. Asks no cluster.
std::string WhyNoEngine(const EngineConfig& config);

// Ends what an earlier session that was killed still has in a cluster: its workers are asked to end their trials with a
// checkpoint, and what does not end is cancelled. What was done, a sentence; empty: there was nothing.
std::string EndClusterJobs(const std::filesystem::path& out, const BatchRecord& record);

}  // namespace backplane
