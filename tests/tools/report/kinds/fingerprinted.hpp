// Folders of trials with fingerprints.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "record/fingerprint_file.hpp"
#include "record/results_folder.hpp"

namespace backplane::test_support {

// Removes the folder at the end.
class Fingerprinted {
 public:
  Fingerprinted() { std::filesystem::remove_all(folder_.out); }
  ~Fingerprinted() { std::filesystem::remove_all(folder_.out); }
  Fingerprinted(const Fingerprinted&) = delete;

  const std::filesystem::path& out() const { return folder_.out; }
  // Returns the trial's folder.
  std::filesystem::path Run(const std::string& trial_id, uint64_t hash) const {
    const AttemptFolder attempt = folder_.attempt(trial_id, 1);
    std::filesystem::create_directories(attempt.folder);
    std::ofstream(attempt.fingerprints(), std::ios::binary) << TableEntry({{kLearned, "w"}}) + RecordEntry(1, {hash});
    return folder_.trial(trial_id).folder;
  }
  std::vector<std::filesystem::path> Runs(const std::string& arm, const std::vector<uint64_t>& hashes) const {
    std::vector<std::filesystem::path> runs;
    for (const uint64_t hash : hashes) runs.push_back(Run(arm + std::to_string(runs.size()), hash));
    return runs;
  }

 private:
  const ResultsFolder folder_{std::filesystem::path(testing::TempDir()) / ("fingerprinted_" + std::to_string(getpid()))};
};

}  // namespace backplane::test_support
