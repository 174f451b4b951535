// Workers as processes of this machine, children of the trial.
#pragma once

#include <filesystem>
#include <memory>

#include "workers/link.hpp"
#include "workers/worker_order.hpp"

namespace backplane {

// Starts so many with `order`, numbered from 1, and `threads` shared out among them, one at least each. What worker
// K prints goes to `worker-K.log` in `logs`. They end when this process does, or the thread that calls this. Throws
// std::runtime_error.
std::unique_ptr<StartedWorkers> StartLocalWorkers(const WorkerOrder& order, uint64_t workers, uint64_t threads,
                                                  const std::filesystem::path& logs);

}  // namespace backplane
