// What a search may choose from, as its `open` message says (record/event.hpp): {path: {log_uniform: [1e-5, 1e-2]}}.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace backplane {

struct SearchedOption {
  std::string path;
  bool whole = false;  // whole numbers alone
  bool log = false;    // as likely in each decade
  double low = 0, high = 0;
  int64_t lowest = 0;  // `low` exactly, if `whole`
  std::optional<double> step;
  std::vector<nlohmann::json> choices = {};  // instead of numbers, where there are any

  bool is_choice() const { return !choices.empty(); }
  // How far between both ends, in the scale that it is drawn in: 0 to 1. Of a choice its place among all. Absent: it is no
  // value of this option.
  std::optional<double> PlaceOf(const nlohmann::json& value) const;
};

// By path. What is no distribution is left out.
std::vector<SearchedOption> ReadSearchSpace(const nlohmann::json& space);

// For people: "NAME" of {"plugin": "NAME"}, other values as they are written.
std::string ChoiceWords(const nlohmann::json& value);

}  // namespace backplane
