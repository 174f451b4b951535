#include "trial/warnings.hpp"

#include "log/log.hpp"

namespace backplane {

void WarningList::Add(const std::string& sentence) {
  sentences_.push_back(sentence);
  LogWarning("warning: {}", sentence);
  status_.SetLine("warning: " + sentence);
}

}  // namespace backplane
