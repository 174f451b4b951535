// The trial process: `backplane run-trial trial.json`. The only place that loads plugins.
#pragma once

#include <cstdint>
#include <filesystem>

namespace backplane {

struct TrialTask {
  enum class Kind {
    kRun = 1,
    kCheck,  // load and create everything, say on stderr what does not fit
    kFilm,   // play one evaluation episode with what the checkpoint holds, and write its pictures (film.hpp)
  };
  Kind kind = Kind::kRun;
  std::filesystem::path film;  // the file to write
  uint64_t episode = 0;        // of an evaluation
};

// Does the task and returns its exit code (TrialExit). Only kRun trains and writes the trial's record. Ends threads and plugins
// properly only on paper: the caller leaves with _exit.
int RunTrial(const std::filesystem::path& trial_json, const TrialTask& task);

}  // namespace backplane
