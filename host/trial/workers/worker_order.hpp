// The arguments of `backplane-trial play`: the trial of a rollout worker, and the way to reach it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace backplane {

struct WorkerOrder {
  std::filesystem::path program;  // this program's file; not an argument
  std::filesystem::path trial_json;
  uint64_t number = 1, threads = 1;
  int fd = -1;          // an open stream socket; -1: none
  int memory_fd = -1;   // SharedMemory of the trial; -1: none
  std::string connect;  // HOST:PORT, where the trial listens, if there is no fd; BACKPLANE_WORKER_TOKEN contains the token
};

// The share of a worker (from 0 on) in the trial's threads, at least one.
constexpr uint64_t ThreadsOfWorker(uint64_t index, uint64_t workers, uint64_t threads) {
  return std::max<uint64_t>(1, (index + 1) * threads / workers - index * threads / workers);
}

std::vector<std::string> ToArguments(const WorkerOrder& order);
// Throws std::runtime_error with a sentence.
WorkerOrder WorkerOrderFromArguments(const std::vector<std::string>& arguments);

}  // namespace backplane
