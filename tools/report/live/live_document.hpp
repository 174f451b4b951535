// The page of a batch that runs, as a document: its trials as a table, curves of those that a reader picks, findings so far.
#pragma once

#include <optional>
#include <string>

#include "live/live_batch.hpp"
#include "render/document.hpp"

namespace backplane {

class LiveDocument {
 public:
  explicit LiveDocument(std::string program) : program_(std::move(program)) {}

  // Shows the part of the batch that was read. Updates the findings and the answer when a trial has ended.
  Document Of(LiveBatch* batch);

 private:
  void Update(const LiveBatch& batch);

  std::string program_;
  Diagnosis diagnosis_;
  std::string answer_;               // the first sentence of a report of the trials that have ended; empty: there is none yet
  std::optional<size_t> diagnosed_;  // LiveBatch::changes() at that time
};

}  // namespace backplane
