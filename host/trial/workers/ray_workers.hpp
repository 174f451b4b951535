// Workers as actors of Ray, on whichever nodes of its cluster have room.
#pragma once

#include <memory>
#include <string>

#include "workers/link.hpp"
#include "workers/worker_order.hpp"

namespace backplane {

// Asks the cluster at `address` ("auto": the one this machine is in) for so many workers with `threads` each, which read the
// same trial.json: a folder that the nodes share. Its Python is `python`. Throws std::runtime_error.
std::unique_ptr<StartedWorkers> StartRayWorkers(const std::string& python, const std::string& address, const WorkerOrder& order,
                                                uint64_t workers, uint64_t threads);

}  // namespace backplane
