// What an iteration saw, did, earned and learned, as hashes: fingerprints.bin of an attempt. A hash is of a tensor's bytes in
// the order of steps and rows, so threads and chunks change nothing; padding and rows that nobody writes are left out, and so
// is what lies on a device.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backplane/learner.h"
#include "base/line_file.hpp"
#include "data/group.hpp"
#include "record/fingerprint_file.hpp"
#include "rollout/rollout_collector.hpp"
#include "trial/loop_parts.hpp"

namespace backplane {

class FingerprintRecord {
 public:
  // Nothing is hashed or written where the experiment says so.
  explicit FingerprintRecord(const LoopParts& parts);

  // What the iteration that begins collects, one of these; what was added before and not written is dropped.
  void AddRollout(RolloutCollector& collector, uint64_t horizon, const bp_delivery& delivery);
  void AddScores(const bp_delivery& delivery);  // of candidates
  void AddGroup(const ItemGroup& group);

  // Ends the iteration, with what the learner has learned by now: its tensors or, where it does not tell them, its state. That
  // is asked for only if `saves_anyway`, as saving may take longer than learning. [control]
  void Write(uint64_t iteration, bool saves_anyway);
  // What was written is on the disk afterwards. Throws std::runtime_error.
  void Sync();

 private:
  void Add(const char* phase, const char* tensor, uint64_t hash);
  void AddWeights(bool saves_anyway);
  void AddChannel(ChannelBuffer& buffer, uint64_t steps);

  const LoopParts& parts_;
  std::optional<LineFile> file_;  // absent: nothing is recorded
  FingerprintColumns columns_, written_columns_;
  std::vector<uint64_t> hashes_;
};

}  // namespace backplane
