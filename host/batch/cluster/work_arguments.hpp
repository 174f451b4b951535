// The command line of a worker.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cluster/work_folder.hpp"

namespace backplane {

//   --folder=DIR --token=TEXT   the session's folder and what its file `session` says
//   --worker=NAME               this one's, which no other has
//   --slots=N                   orders at once
//   --job=N                     this order alone, and then the end; else it takes orders until it is told to end
struct WorkArguments {
  WorkFolder at;
  std::string token, worker;
  size_t slots = 1;
  std::optional<JobId> only;
};

// Throws std::runtime_error with a sentence.
WorkArguments ReadWorkArguments(const std::vector<std::string>& arguments);

}  // namespace backplane
