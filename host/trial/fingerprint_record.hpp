// Writes fingerprints.bin of an attempt: hashes of each iteration's observations, actions, rewards and weights. A hash covers a
// tensor's bytes in the order of steps and rows, so threads and chunks do not change it. Excludes padding, unwritten rows and
// device memory.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "backplane/learner.h"
#include "base/hash64.hpp"
#include "base/line_file.hpp"
#include "data/group.hpp"
#include "record/fingerprint_file.hpp"
#include "rollout/rollout_collector.hpp"
#include "trial/loop_parts.hpp"

namespace backplane {

class FingerprintRecord {
 public:
  // Does nothing if the experiment disables fingerprints.
  explicit FingerprintRecord(const LoopParts& parts);

  // Call one of these with the data of the iteration that begins. Drops data that was added but not written. A rollout in parts
  // has the hashes of the whole one: call it for each part.
  void AddRollout(RolloutCollector& collector, const RolloutPart& part, const bp_delivery& delivery);
  void AddScores(const bp_delivery& delivery);  // of candidates
  void AddGroup(const ItemGroup& group);

  // Ends the iteration with a hash of the learner's tensors or, if it does not expose them, of its state. Requests the state
  // only if `saves_anyway`, because saving may take longer than learning. [control]
  void Write(uint64_t iteration, bool saves_anyway);
  // Brings everything written to the disk. Throws std::runtime_error.
  void Sync();

 private:
  void Add(const char* phase, const char* tensor, uint64_t hash);
  void AddWeights(bool saves_anyway);
  void StartRollout(RolloutCollector& collector, const bp_delivery& delivery);
  void StartChannel(ChannelBuffer& buffer);

  const LoopParts& parts_;
  std::optional<LineFile> file_;  // absent: disabled
  FingerprintColumns columns_, written_columns_;
  std::vector<uint64_t> hashes_;
  // The tensors of a rollout, until its last part.
  struct Stream {
    const char *phase, *name;
    ChannelBuffer* buffer;  // NULL: tensor `at` of the delivery
    uint64_t at;
    Hash64 hash = {};
  };
  std::deque<Stream> streams_;
};

}  // namespace backplane
