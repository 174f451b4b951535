// A policy that trials of a results folder start from: OUT/starts/HASH/start.bin with this record, source.json.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "record/fields.hpp"

namespace backplane {

inline constexpr char kStartKey[] = "learner.start_from";  // of experiments and of files in plan.jsonl
inline constexpr char kStartFile[] = "start.bin";

struct KeptStart {
  std::vector<std::string> sources;  // names of this content in experiments, absolute
  std::string sha256;                // of the learner's saved state, or of the whole file of arrays
  std::string trial_id;              // of the other trial; empty: a file of arrays
  std::string checkpoint;            // of the other trial: "best", "last", "37"
  uint64_t iterations = 0;           // of the other trial before that checkpoint

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("sources", self.sources);
    visit("sha256", self.sha256);
    visit("trial_id", LeftOutIfEmpty(self.trial_id));
    visit("checkpoint", LeftOutIfEmpty(self.checkpoint));
    visit("iterations", DefaultIfMissing(self.iterations));
  }
};

}  // namespace backplane
