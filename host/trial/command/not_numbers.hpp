// Collects metrics that a command reported without a number, for one warning each.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace backplane {

class NotNumbers {
 public:
  // `found` is truncated.
  void Add(const std::string& name, std::string_view found);
  // The form is in record/warning_text.hpp.
  std::vector<std::string> Warnings() const;

 private:
  std::map<std::string, std::string> first_;  // by name
};

}  // namespace backplane
