// Workers as actors of Ray, on any nodes of its cluster with room.
#pragma once

#include <memory>
#include <string>

#include "workers/link.hpp"
#include "workers/worker_order.hpp"

namespace backplane {

// Starts workers that share `threads` on the cluster at `address` ("auto": this machine's). They read the same trial.json, so
// the nodes must share its folder. `python`: the interpreter to use. Throws std::runtime_error.
std::unique_ptr<StartedWorkers> StartRayWorkers(const std::string& python, const std::string& address, const WorkerOrder& order,
                                                uint64_t workers, uint64_t threads);

}  // namespace backplane
