// fingerprints.bin of an attempt: for each iteration the hashes of what was seen, done, earned and learned in it. Two runs that
// should be equal are, or part where the first of these differs.
//
// The file is a row of entries of 64-bit little-endian words:
//   a table   2^64-1, n, n bytes of JSON {"version", "hash", "columns": [{"phase", "tensor"}]}, n a multiple of 8, check
//   a record  the iteration's number, a hash for each column of the table before it, check
// It begins with a table, and another one stands where the columns change. `check` is the hash of the entry's bytes before it.
// Hashes are XXH3 in 64 bits, of a tensor's bytes in row-major order without padding. Of an iteration that stands there twice
// the later record counts, and what came after the earlier one is void: the trial went back to it.
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

  // Of one more iteration; what was known of it and of those behind it is void.
  void Add(uint64_t iteration, Fingerprint fingerprint);
  // Of an attempt that went on from these.
  void Continue(Fingerprints later);
};

struct FingerprintFile : Fingerprints {
  uint64_t whole_bytes = 0;            // entries that are whole; what follows them was torn by a kill, or is damaged
  std::optional<std::string> problem;  // a sentence, where more than a torn end is not as it was written
};

// Nothing where there is no such file.
std::optional<FingerprintFile> ReadFingerprints(const std::filesystem::path& file);

std::string TableEntry(const FingerprintColumns& columns);
std::string RecordEntry(uint64_t iteration, const std::vector<uint64_t>& hashes);

}  // namespace backplane
