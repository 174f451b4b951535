// Combines several result sets; the order of the folders does not matter.
#pragma once

#include <string>
#include <vector>

#include "results/result_set.hpp"

namespace backplane {

// Sets whose times may be compared: same host, same device, same build and library versions.
struct Group {
  std::string label;  // the shortest text that distinguishes the groups; empty if there is one
  RunInfo run;        // of the group's first set
};

struct CombinedTrial {
  TrialData data;
  size_t group = 0;
};

struct Combined {
  std::vector<std::string> experiments;        // names, sorted, each once
  std::vector<std::filesystem::path> folders;  // in the canonical order
  std::vector<Group> groups;
  std::vector<CombinedTrial> trials;    // folder by folder, each in the order of its plan
  size_t replaced = 0;                  // the same trial in several sets: the newest counts
  std::vector<std::string> warnings;    // sentences
  std::vector<nlohmann::json> configs;  // ResultSet::config of each folder
};

// Sorts by the experiment's name, then by content, so that the order and spelling of paths have no effect.
void SortCanonically(std::vector<ResultSet>* sets);

// At least one set. The result does not depend on their order.
Combined Combine(std::vector<ResultSet> sets);

}  // namespace backplane
