#include "trial/warnings.hpp"

#include <cstdio>

namespace backplane {

void WarningList::Add(const std::string& sentence) {
  sentences_.push_back(sentence);
  std::fprintf(stderr, "warning: %s\n", sentence.c_str());
  status_.SetLine("warning: " + sentence);
}

}  // namespace backplane
