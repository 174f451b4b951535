// What is known of a search: its messages (record/event.hpp), folded in order.
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
  std::string point_id;                             // empty: no point became of it
  std::vector<std::pair<uint64_t, double>> values;  // reported while it ran: step, value; in the order of the reports
  std::string state;                                // complete, pruned, fail; empty: it is not told yet
  std::optional<double> value;                      // of the objective: of one that is complete or came to its end
  bool asked_to_stop = false;                       // a report was answered with "prune"
  double asked = 0;                                 // seconds since 1970
  std::optional<double> told;
};

struct SearchRecord {
  nlohmann::json open, opened;                 // the request, and its reply; null: nothing was searched
  std::map<uint64_t, Suggestion> suggestions;  // by number

  void Apply(const SearchMessage& message, double t);
  void Apply(const SearchPoint& point);
};

}  // namespace backplane
