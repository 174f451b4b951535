// Where two runs that should be equal part: the first iteration, phase and tensor whose hash differs (record/fingerprint_file).
// Reads nothing but the folders, so they may come from other machines.
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
  std::string phase, tensor;      // the first that differs
  std::vector<std::string> also;  // further ones of that iteration, "phase tensor"

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("iteration", self.iteration);
    visit("phase", self.phase);
    visit("tensor", self.tensor);
    visit("also", self.also);
  }
};

// Of one trial, or of the same in two folders.
struct ComparedBits {
  std::string name, a, b;
  uint64_t iterations = 0, hashes = 0;             // equal, up to the difference
  uint64_t only_a = 0, only_b = 0;                 // iterations that only one has
  std::optional<BitsDifference> first_difference;  // absent: none in what both have
  bool damaged = false;                            // a file ends before its end: more may differ
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

// Of an attempt's folder (a replay's, too) or of a trial's, whose attempts went on from each other.
struct RecordedBits : Fingerprints {
  explicit RecordedBits(const std::filesystem::path& folder);
  bool damaged = false;
  std::vector<std::string> notes;  // of files that are damaged
};

ComparedBits CompareBits(const RecordedBits& a, const RecordedBits& b);

}  // namespace backplane
