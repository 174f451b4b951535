// The files that a batch writes before it starts. They are enough to run it again on any machine.
#pragma once

#include "batch/batch.hpp"
#include "record/event.hpp"

namespace backplane {

// Writes config.yaml, plan.jsonl and run.json. Throws std::runtime_error.
void WriteBatchFiles(const BatchRequest& request);

SessionStart ThisSession(size_t trials);

}  // namespace backplane
