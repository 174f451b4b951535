// Workers as processes of this machine, children of the trial.
#pragma once

#include <filesystem>
#include <memory>

#include "workers/link.hpp"
#include "workers/worker_order.hpp"

namespace backplane {

// Starts workers with `order`, numbered from 1, and divides `threads` among them, at least one each. The output of worker K
// goes to `worker-K.log` in `logs`. They end with this process, or with the calling thread. Throws std::runtime_error.
std::unique_ptr<StartedWorkers> StartLocalWorkers(const WorkerOrder& order, uint64_t workers, uint64_t threads,
                                                  const std::filesystem::path& logs);

}  // namespace backplane
