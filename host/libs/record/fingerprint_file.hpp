// fingerprints.bin of an attempt: per iteration, hashes of observations, actions, rewards and weights. Two supposedly equal
// trials first differ where one of these does.
//
// The file is a sequence of entries of 64-bit little-endian words:
//   a table   2^64-1, n, n bytes of JSON {"version", "hash", "columns": [{"phase", "tensor"}]}, n a multiple of 8, check
//   a record  the iteration's number, a hash for each column of the table before it, check
// It begins with a table; another one follows when the columns change. `check` is the hash of the preceding bytes of the entry.
// Hashes are 64-bit XXH3 of a tensor's bytes in row-major order without padding. If an iteration occurs twice, the trial went
// back to it: the later record replaces the earlier one and everything after that.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "record/fields.hpp"

namespace backplane {

// Phases of an iteration, in their order.
inline constexpr char kObserved[] = "observations", kActed[] = "actions", kRewarded[] = "rewards", kLearned[] = "weights";

struct FingerprintColumn {
  std::string phase, tensor;
  bool operator==(const FingerprintColumn&) const = default;

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("phase", self.phase);
    visit("tensor", self.tensor);
  }
};
using FingerprintColumns = std::vector<FingerprintColumn>;

struct Fingerprint {  // of an iteration
  std::shared_ptr<const FingerprintColumns> columns;
  std::vector<uint64_t> hashes;  // [columns]
};

struct Fingerprints {
  std::map<uint64_t, Fingerprint> iterations;

  // Adds an iteration and drops an earlier record of it with all later iterations.
  void Add(uint64_t iteration, Fingerprint fingerprint);
  // Appends an attempt that resumed from these.
  void Continue(Fingerprints later);
};

struct FingerprintFile : Fingerprints {
  uint64_t whole_bytes = 0;            // size of the whole entries; a kill tore what follows, or it is damaged
  std::optional<std::string> problem;  // a sentence if more than a torn end is damaged
};

// Absent if there is no such file.
std::optional<FingerprintFile> ReadFingerprints(const std::filesystem::path& file);

std::string TableEntry(const FingerprintColumns& columns);
std::string RecordEntry(uint64_t iteration, const std::vector<uint64_t>& hashes);

}  // namespace backplane
