// `backplane-report --judge`: the interim verdict of a comparison.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "record/compare_terms.hpp"

namespace backplane {

struct JudgeRequest {
  std::vector<std::string> folders;     // results folders, at least one
  std::optional<CompareTerms> compare;  // to analyse all scores together; absent: the experiment's own terms

  static void Fields(auto& self, auto&& visit) {
    visit("folders", self.folders);
    visit("compare", NullIfAbsent(self.compare));
  }
};

struct CompareAnswer {
  bool decided = false;  // no further look is needed or left
  bool invalid = false;  // the trials are not comparable, whatever their scores are
  uint64_t looks = 0;    // looks so far
  std::string sentence;  // the verdict, or the state of the comparison, for a person who waits

  static void Fields(auto& self, auto&& visit) {
    visit("decided", self.decided);
    visit("invalid", self.invalid);
    visit("looks", self.looks);
    visit("sentence", self.sentence);
  }
};

}  // namespace backplane
