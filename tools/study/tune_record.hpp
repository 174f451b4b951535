// The record of a tuning, OUT/tune.json. Programs read it, and the same command reads it to resume.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "record/fields.hpp"
#include "study/tuning.hpp"

namespace backplane {

// Time of one step over all sessions. A killed session loses its share of an unfinished step.
struct StepTime {
  double seconds = 0;
  bool whole = false;

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("seconds", DefaultIfMissing(self.seconds));
    visit("whole", DefaultIfMissing(self.whole));
  }
};

struct TuneRecord {
  std::filesystem::path file;   // OUT/tune.json
  nlohmann::json asked;         // inputs that determine the trials: tunings with different ones share none
  std::vector<StepTime> times;  // by step
  nlohmann::json result;        // from TuneJson; null: not yet

  void Write() const;  // throws std::runtime_error
};

inline constexpr int kTuneSchema = 1;

// Reads the record of a folder; empty if there is none. Throws std::runtime_error on a broken file or a different schema.
TuneRecord ReadTuneRecord(const std::filesystem::path& out);

// The differences between two inputs, in words. Empty: none.
std::string DifferenceOf(const nlohmann::json& asked, const nlohmann::json& now);

// The steps and the check for programs. `tuned`: the file that was written; empty: none.
nlohmann::json TuneJson(const Tuning& tuning, const LearningCheck* check, const std::string& measure,
                        const std::filesystem::path& tuned);

}  // namespace backplane
