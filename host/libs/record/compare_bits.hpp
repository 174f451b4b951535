// Finds the first iteration, phase and tensor in which two supposedly equal trials differ (record/fingerprint_file). Reads only
// results folders, so they may come from different machines.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "record/fingerprint_file.hpp"
#include "record/results_folder.hpp"

namespace backplane {

struct BitsDifference {
  uint64_t iteration = 0;
  std::string phase, tensor;      // the first difference
  std::vector<std::string> also;  // further differences in that iteration, as "phase tensor"

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("iteration", self.iteration);
    visit("phase", self.phase);
    visit("tensor", self.tensor);
    visit("also", self.also);
  }
};

// Compares one trial with itself or with the same trial in another folder.
struct ComparedBits {
  std::string name, a, b;
  uint64_t iterations = 0, hashes = 0;             // equal, up to the difference
  uint64_t only_a = 0, only_b = 0;                 // iterations that only one has
  std::optional<BitsDifference> first_difference;  // absent: none in the common iterations
  bool damaged = false;                            // a file is truncated, so more may differ
  std::vector<std::string> notes;

  bool equal() const { return hashes > 0 && !first_difference && !damaged; }
  std::string Sentence() const;

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("name", self.name);
    visit("a", self.a);
    visit("b", self.b);
    visit("iterations", self.iterations);
    visit("hashes", self.hashes);
    visit("only_a", self.only_a);
    visit("only_b", self.only_b);
    visit("first_difference", NullIfAbsent(self.first_difference));
    visit("damaged", self.damaged);
    visit("notes", self.notes);
  }
};

// Fingerprints of an attempt's folder (or a replay's), or of all attempts in a trial's folder, each resumed from the one
// before.
struct RecordedBits : Fingerprints {
  explicit RecordedBits(const std::filesystem::path& folder);
  bool damaged = false;
  std::vector<std::string> notes;  // about damaged files
};

ComparedBits CompareBits(const RecordedBits& a, const RecordedBits& b);

}  // namespace backplane
