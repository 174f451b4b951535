// Names of measures in an experiment file, before the start: whether anything will be recorded under them.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "config/experiment.hpp"

namespace backplane {

struct Misnamed {
  std::string path;               // "report.columns.1", "output.live.0"
  std::string message;            // "report.columns: nothing records 'train/los'"
  std::vector<std::string> near;  // names that it may have been meant for; empty: a plugin that does not tell may record it
};

// Of `report:` of kind comparison and of `output.live`. `recorded`: what trials will record (trial/recorded_names.hpp); the
// host's own measures are known. `is_path`: whether a point's configuration has a value there, as paths are names too; asked
// only of what is not recorded.
std::vector<Misnamed> FindMisnamed(const Experiment& experiment, const std::set<std::string>& recorded,
                                   const std::function<bool(const std::string&)>& is_path);

}  // namespace backplane
