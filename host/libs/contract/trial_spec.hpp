// The contract between the supervisor and a trial process: they share only these files and the exit code.
//
//   trial.json           in   the trial to run
//   attempt-N/metrics.jsonl   one object per iteration, appended; 0: the warm-up, or the evaluation before training
//   attempt-N/fingerprints.bin  hashes of each iteration, appended (record/fingerprint_file.hpp)
//   attempt-N/status     a small mapped file: phase, iteration, steps; also readable after a crash
//   attempt-N/result.json     renamed into place before monitors finish; exit 0 without it is a failure
//   checkpoint/          the last two, each whole or absent (checkpoint_folder.hpp)
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

#include "contract/experiment.hpp"
#include "record/status_file.hpp"
#include "record/trial_file.hpp"

namespace backplane {

// Exit codes of `run-trial`; 0 with a valid result.json is success.
enum TrialExit : int {
  kExitOk = 0,
  kExitUsage = 64,
  kExitTemp = 75,    // stopped on request after a checkpoint, or worth another try
  kExitConfig = 78,  // a plugin rejected its options
  kExitGpuOom = 101,
  kExitHostOom = 102,
  kExitNan = 103,
  kExitTimeout = 104,
  kExitPlugin = 110,  // a plugin broke its contract or could not be loaded
};

struct TrialSpec : TrialFile {
  Experiment experiment;  // of `config`, which is empty here
};

nlohmann::json ToJson(const TrialSpec& spec);
TrialSpec TrialSpecFromJson(const nlohmann::json& json);           // throws std::runtime_error
TrialSpec ReadTrialSpec(const std::filesystem::path& trial_json);  // throws std::runtime_error that names the file

}  // namespace backplane
