// What a batch writes down of itself before it starts: enough to run it again anywhere, and to know what ran.
#pragma once

#include "batch/batch.hpp"
#include "record/event.hpp"

namespace backplane {

// config.yaml, plan.jsonl and run.json. Throws std::runtime_error.
void WriteBatchFiles(const BatchRequest& request);

SessionStart ThisSession(size_t trials);

}  // namespace backplane
