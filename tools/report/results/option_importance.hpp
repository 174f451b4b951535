// Importance of searched options for the objective.
#pragma once

#include <string>
#include <vector>

#include "record/study.hpp"
#include "statistics/rank_groups.hpp"

namespace backplane {

inline constexpr size_t kLeastToRank = 10;  // complete trials: with fewer, importances are noise

struct OptionImportance {
  std::string path;
  statistics::Explained explained;  // how much of the objective's ranks this option explains
  size_t trials = 0;                // complete trials that have the option
};

// The greatest first. Numeric values form about sqrt(trials) groups of equal size; choices form one group each. Skips options
// with fewer than kLeastToRank complete trials or a single value.
std::vector<OptionImportance> ImportanceOfOptions(const Study& study);

}  // namespace backplane
