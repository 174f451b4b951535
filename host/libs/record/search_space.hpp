// The search space in the search's `open` message (record/event.hpp): {path: {log_uniform: [1e-5, 1e-2]}}.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace backplane {

struct SearchedOption {
  std::string path;
  bool whole = false;  // integers only
  bool log = false;    // each decade is equally likely
  double low = 0, high = 0;
  int64_t lowest = 0;  // `low` exactly, if `whole`
  std::optional<double> step;
  std::vector<nlohmann::json> choices = {};  // instead of numbers, if not empty

  bool is_choice() const { return !choices.empty(); }
  // The position of a value in the sampling scale, 0 to 1; for a choice, its position in the list. Absent if the option does
  // not have this value.
  std::optional<double> PlaceOf(const nlohmann::json& value) const;
};

// Sorted by path. Skips entries that are not distributions.
std::vector<SearchedOption> ReadSearchSpace(const nlohmann::json& space);

// Readable form: "NAME" for {"plugin": "NAME"}, other values as written.
std::string ChoiceWords(const nlohmann::json& value);

}  // namespace backplane
