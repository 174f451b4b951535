// The three batch sizes of an update, of which two determine the third. They are keys of the experiment file for any learner.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "rules/finding_case.hpp"

namespace backplane {

// The configured sizes of an update. 0: not set.
struct BatchSizes {
  std::string micro_path, parts_path, whole_path;
  uint64_t micro = 0, parts = 0, whole = 0;

  // Items of an update; 0: unknown.
  uint64_t Effective() const { return whole > 0 ? whole : micro * (parts > 0 ? parts : 1); }
  // Micro-batches of an update; 0: unknown.
  uint64_t Parts() const { return parts > 0 ? parts : whole > 0 && micro > 0 ? (whole + micro - 1) / micro : 0; }
};

// `section`: "learner.options." Absent: its options lack these sizes.
std::optional<BatchSizes> BatchSizesIn(const Case& c, const std::string& section);

// Completes a change of one size by the changes that the others need: a new micro-batch keeps the effective batch, and other
// parts change it. Returns false if no valid file results. Changes of other options stay as they are.
bool FitBatchSizes(const Case& c, Fix* fix);

}  // namespace backplane
