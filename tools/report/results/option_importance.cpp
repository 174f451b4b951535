#include "results/option_importance.hpp"

#include <algorithm>
#include <cmath>

namespace backplane {
namespace {

constexpr uint64_t kSeed = 1;  // seeds the permutations that estimate the effect of chance

}  // namespace

std::vector<OptionImportance> ImportanceOfOptions(const Study& study) {
  std::vector<OptionImportance> importances;
  for (const SearchedOption& option : study.space) {
    std::vector<double> values, places;
    for (const StudyTrial& trial : study.trials) {
      if (trial.state != StudyState::kComplete || !trial.params.contains(option.path)) continue;
      const std::optional<double> place = option.PlaceOf(trial.params.at(option.path));
      if (!place) continue;
      values.push_back(*trial.value);
      places.push_back(*place);
    }
    if (values.size() < kLeastToRank) continue;
    const auto groups = static_cast<size_t>(std::sqrt(static_cast<double>(values.size())));
    const std::optional<statistics::Explained> explained = statistics::ExplainedByGroups(
        values, statistics::GroupsInOrder(places, option.is_choice() ? values.size() : groups), kSeed);
    if (explained) importances.push_back({option.path, *explained, values.size()});
  }
  std::stable_sort(importances.begin(), importances.end(),
                   [](const auto& a, const auto& b) { return a.explained.share > b.explained.share; });
  return importances;
}

}  // namespace backplane
