// `backplane-report --judge`: what the trials of a comparison say so far.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "record/compare_terms.hpp"

namespace backplane {

struct JudgeRequest {
  std::vector<std::string> folders;     // of results, at least one
  std::optional<CompareTerms> compare;  // of all scores that there are; absent: as the experiment says

  static void Fields(auto& self, auto&& visit) {
    visit("folders", self.folders);
    visit("compare", NullIfAbsent(self.compare));
  }
};

struct CompareAnswer {
  bool decided = false;  // no further look is needed, or there is none
  bool invalid = false;  // the trials are no comparison, whatever their scores are
  uint64_t looks = 0;    // that were taken
  std::string sentence;  // for a person who waits: the verdict, or where it stands

  static void Fields(auto& self, auto&& visit) {
    visit("decided", self.decided);
    visit("invalid", self.invalid);
    visit("looks", self.looks);
    visit("sentence", self.sentence);
  }
};

}  // namespace backplane
