// Importance of the searched options for the objective.
#pragma once

#include <string>
#include <vector>

#include "record/study.hpp"
#include "statistics/rank_groups.hpp"

namespace backplane {

inline constexpr size_t kLeastToRank = 10;  // complete trials: fewer say nothing of an option

struct OptionImportance {
  std::string path;
  statistics::Explained explained;  // of the ranks of the objective, by this option alone
  size_t trials = 0;                // complete ones that have the option
};

// The greatest first. An option's numbers are put into about sqrt(trials) groups of equal size, its choices into one each.
// What fewer than kLeastToRank complete trials have, or all with the same value, is left out.
std::vector<OptionImportance> ImportanceOfOptions(const Study& study);

}  // namespace backplane
