// Metrics that a command reported as something other than a number: one warning for each.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace backplane {

class NotNumbers {
 public:
  // `found` is shortened.
  void Add(const std::string& name, std::string_view found);
  // In the form of record/warning_text.hpp.
  std::vector<std::string> Warnings() const;

 private:
  std::map<std::string, std::string> first_;  // by name
};

}  // namespace backplane
