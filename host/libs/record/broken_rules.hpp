// `backplane-validate --fast`: the rules that new plugin files of some trials break, found before the trials load them. The
// request is an array of trial files (trial_file.hpp).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "record/fields.hpp"

namespace backplane {

// A plugin that breaks the contract.
struct BrokenRule {
  std::filesystem::path file;
  std::string id, sentence;

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("file", self.file);
    visit("id", self.id);
    visit("sentence", self.sentence);
  }
};

struct BrokenRulesAnswer {
  std::vector<BrokenRule> broken;

  static constexpr void Fields(auto& self, auto&& visit) { visit("broken", self.broken); }
};

}  // namespace backplane
