// Warnings for the user, who does not read the log: in the log, on the screen and in the result.
#pragma once

#include <string>
#include <vector>

#include "log/log.hpp"
#include "trial/status.hpp"

namespace backplane {

class WarningList {
 public:
  explicit WarningList(StatusWriter& status) : status_(status) {}
  void Add(const std::string& sentence) {
    sentences_.push_back(sentence);
    LogWarning("warning: {}", sentence);
    status_.SetLine("warning: " + sentence);
  }
  const std::vector<std::string>& sentences() const { return sentences_; }

 private:
  StatusWriter& status_;
  std::vector<std::string> sentences_;
};

}  // namespace backplane
