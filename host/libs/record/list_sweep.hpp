// `sweep:` of an experiment file that a program writes: its points one by one.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "record/fields.hpp"

namespace backplane {

struct SweepSeeds {
  uint64_t n = 1, first = 0;

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("n", self.n);
    visit("first", self.first);
  }
};

struct ListSweep {
  std::vector<nlohmann::json> list;           // {name: NAME, PATH: value, ...}
  nlohmann::json seeds = {};                  // SweepSeeds, or as an experiment file has them; null: its own seed
  std::vector<std::string> memory_axes = {};  // paths

  void Add(const std::string& name, const std::vector<std::pair<std::string, nlohmann::json>>& values) {
    nlohmann::json& entry = list.emplace_back(nlohmann::json{{"name", name}});
    for (const auto& [path, value] : values) entry[path] = value;
  }

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("list", self.list);
    visit("seeds", LeftOutIfEmpty(self.seeds));
    visit("memory_axes", LeftOutIfEmpty(self.memory_axes));
  }
};

// The section in its file.
struct SweepSection {
  ListSweep sweep;

  static constexpr void Fields(auto& self, auto&& visit) { visit("sweep", self.sweep); }
};

}  // namespace backplane
