// A trial's state at the start of an iteration, as one file:
//
//   "BPCKPT2\n"  bytes of the header (little-endian u64)  SHA-256 of the header (32 bytes)  the header  the parts
//
// The header is the JSON of a CheckpointHeader with the size and SHA-256 of each part. The reader checks everything before use:
// the size of the file against the sum of sizes, the header, every part, and the trial's id.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <istream>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "record/checkpoint_header.hpp"
#include "rollout/rows.hpp"

namespace backplane {

struct Checkpoint {
  CheckpointHeader header;                              // its `parts` only after reading
  std::map<std::string, std::vector<std::byte>> parts;  // "learner", "env" or "env_state", "states", "rows"
};

// Damaged, of a different trial, or no checkpoint. The sentence starts with the file, if there is one.
class CheckpointError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Throws CheckpointError unless the file is whole and of this trial. Also reads files of the previous version, which has no
// checksums, and checks only their sizes.
Checkpoint ReadCheckpoint(const std::filesystem::path& file, const std::string& trial_id);
// The same for `bytes` bytes of any stream.
Checkpoint ParseCheckpoint(std::istream& in, uint64_t bytes, const std::string& trial_id);

// The bytes before the parts.
std::string CheckpointHead(const Checkpoint& checkpoint);
// The bytes of a part. Throws CheckpointError if there is none.
const std::vector<std::byte>& PartOf(const Checkpoint& checkpoint, const std::string& name);
std::string_view AsText(const std::vector<std::byte>& bytes);

// Check a whole checkpoint before the trial uses it, because a different version may have written it. Both throw
// CheckpointError.
//
// The part "rows", with `rows` rows.
std::vector<RowState> RowStatesOf(const Checkpoint& checkpoint, uint64_t rows);
// The iteration that is missing in the metrics has the last number and the fields that the loop reads.
void CheckUnwritten(const CheckpointHeader& header);

}  // namespace backplane
