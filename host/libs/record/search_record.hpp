// The state of a search, folded from its messages (record/event.hpp).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "record/event.hpp"

namespace backplane {

struct Suggestion {
  nlohmann::json params;                            // {path: value}
  std::string point_id;                             // empty: it produced no point
  std::vector<std::pair<uint64_t, double>> values;  // intermediate values: step, value; in the order of the reports
  std::string state;                                // complete, pruned, fail; empty: not yet reported
  std::optional<double> value;                      // final objective, if it completed or ran to its end
  bool asked_to_stop = false;                       // the search replied "prune" to a report
  double asked = 0;                                 // seconds since 1970
  std::optional<double> told;
};

struct SearchRecord {
  nlohmann::json open, opened;                 // the request and its reply; null: no search
  std::map<uint64_t, Suggestion> suggestions;  // by number

  void Apply(const SearchMessage& message, double t);
  void Apply(const SearchPoint& point);
};

}  // namespace backplane
