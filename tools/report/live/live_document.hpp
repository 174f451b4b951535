// The page of a running batch as a document: a table of trials, curves of the picked ones, current findings.
#pragma once

#include <optional>
#include <string>

#include "live/live_batch.hpp"
#include "render/document.hpp"

namespace backplane {

class LiveDocument {
 public:
  explicit LiveDocument(std::string program) : program_(std::move(program)) {}

  // Shows the part of the batch that was read. Updates findings and answer after a trial ends.
  Document Of(LiveBatch* batch);

 private:
  void Update(const LiveBatch& batch);

  std::string program_;
  Diagnosis diagnosis_;
  std::string answer_;               // first sentence of a report on the ended trials; empty: none yet
  std::optional<size_t> diagnosed_;  // LiveBatch::changes() at that time
};

}  // namespace backplane
