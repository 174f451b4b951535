// Runs one trial from start to result: the only writer of OUT beside the trial itself.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "config/loader.hpp"
#include "supervise/summary.hpp"

namespace backplane {

struct SuperviseRequest {
  LoadedExperiment loaded;
  std::filesystem::path config_file;
  std::vector<std::string> set;  // for run.json: how the file was overridden
  std::filesystem::path out;
  bool fresh = false;
  bool quiet = false;               // no progress on stderr
  std::filesystem::path program;    // what answers to `run-trial`
  std::filesystem::path torch_lib;  // empty: none known
};

struct SuperviseReport {
  nlohmann::json result;  // result.json of the last attempt
  SummaryContext context;
  bool already_complete = false;  // nothing was run
  bool interrupted = false;       // by Ctrl-C, before the trial was complete
  bool completed() const;
};

// Throws std::runtime_error if nothing could be started (folder in use, disk full, ...).
SuperviseReport SuperviseTrial(const SuperviseRequest& request);

}  // namespace backplane
