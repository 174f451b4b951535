// `search` of a sweep: points that are suggested one after the other, by what those before came to.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sweep/axis_values.hpp"

namespace backplane {

struct Assigned;

// The section without its space.
struct SearchTerms {
  std::string method = "tpe";
  uint64_t trials = 0;  // suggestions that became a point, over all sessions
  uint64_t seed = 0;
  std::string metric;
  std::optional<std::string> direction;        // maximize, minimize; absent: the metric's own
  nlohmann::json pruner = {{"type", "none"}};  // as sent to the search
  uint64_t confirm_top = 0, confirm_seeds = 0;
  Mark mark, metric_mark, pruner_mark;

  bool Prunes() const { return pruner.at("type") != "none"; }
};

inline constexpr char kSearchMetric[] = "sweep.search.objective.metric";

// A path that is searched. `choices` are the values of a choice, ready to be written.
struct SearchedPath {
  std::string path;
  Mark mark;
  Distribution distribution;
  std::vector<const Assigned*> choices;
};

struct SearchSection {
  SearchTerms terms;
  const Node* space = nullptr;  // in the section; NULL after an error
};
SearchSection ReadSearchSection(const Entry& section, Errors* errors);

}  // namespace backplane
