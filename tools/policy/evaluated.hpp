// The results of `evaluate` as a table, as JSON and as CSV.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "record/evaluation_order.hpp"
#include "text/table.hpp"

namespace backplane {

struct EvaluatedRow {
  std::string trial;   // its name; empty: a baseline
  std::string policy;  // kLearnerPolicy, ...
  std::string checkpoint;
  std::optional<uint64_t> iterations;  // before the checkpoint
  std::vector<std::string> differences;
  Factors factors;
  PlayedEpisodes episodes;
};

struct Evaluated {
  uint64_t seed = 0, n = 0;  // episodes of a row
  std::vector<EvaluatedRow> rows;
};

// True if every value is 0 or 1: the mean is a rate, and its interval exact.
bool IsRate(const std::vector<double>& values);

Table TableOf(const Evaluated& evaluated);
nlohmann::ordered_json JsonOf(const Evaluated& evaluated);
// One line per episode.
std::string CsvOf(const Evaluated& evaluated);

}  // namespace backplane
