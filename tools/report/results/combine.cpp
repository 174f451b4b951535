#include "results/combine.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/files.hpp"
#include "base/json_text.hpp"
#include "base/sha256.hpp"
#include "results/groups.hpp"

namespace backplane {
namespace {

// Folders may be moved, so sort by content before path.
std::string ContentKey(const ResultSet& set) {
  std::string text = JsonText(ToJson(set.run)) + JsonText(set.config);
  for (const TrialData& trial : set.trials) {
    text += "\n" + trial.trial_id + " " + Word(trial.state) + " " + std::to_string(trial.ended);
  }
  return Sha256(text);
}

// A failed repetition does not replace a result.
bool CountsBefore(const TrialData& a, const TrialData& b) {
  return std::pair(a.usable(), a.ended) > std::pair(b.usable(), b.ended);
}

}  // namespace

void SortCanonically(std::vector<ResultSet>* sets) {
  using Key = std::tuple<std::string, std::string, std::string>;
  std::vector<std::pair<Key, size_t>> order;
  for (size_t i = 0; i < sets->size(); ++i) {
    const ResultSet& set = (*sets)[i];
    order.push_back({{set.experiment, ContentKey(set), set.out.string()}, i});
  }
  std::sort(order.begin(), order.end());
  std::vector<ResultSet> sorted;
  for (const auto& [key, i] : order) sorted.push_back(std::move((*sets)[i]));
  *sets = std::move(sorted);
}

Combined Combine(std::vector<ResultSet> sets) {
  SortCanonically(&sets);
  Grouping grouping = GroupSets(sets);
  Combined combined;
  combined.groups = std::move(grouping.groups);
  if (!grouping.warning.empty()) combined.warnings.push_back(grouping.warning);

  std::set<std::string> experiments;
  std::map<std::pair<size_t, std::string>, const TrialData*> counts;  // by group and trial
  for (size_t s = 0; s < sets.size(); ++s) {
    experiments.insert(sets[s].experiment);
    combined.folders.push_back(sets[s].out);
    combined.configs.push_back(sets[s].config);
    for (size_t t = 0; t < sets[s].trials.size(); ++t) {
      const TrialData& trial = sets[s].trials[t];
      const TrialData*& known = counts[{grouping.of[s][t], trial.trial_id}];
      if (known == nullptr || CountsBefore(trial, *known)) known = &trial;
    }
  }
  combined.experiments.assign(experiments.begin(), experiments.end());

  for (size_t s = 0; s < sets.size(); ++s) {
    for (size_t t = 0; t < sets[s].trials.size(); ++t) {
      TrialData& trial = sets[s].trials[t];
      const size_t group = grouping.of[s][t];
      if (counts[{group, trial.trial_id}] == &trial) {
        combined.trials.push_back({std::move(trial), group});
      } else {
        ++combined.replaced;
      }
    }
  }
  return combined;
}

}  // namespace backplane
