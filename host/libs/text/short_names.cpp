#include "text/short_names.hpp"

#include <map>

namespace backplane {

std::vector<std::string> ShortNames(const std::vector<std::string>& paths, const std::vector<std::string>& taken) {
  const auto last_part = [](const std::string& path) { return path.substr(path.rfind('.') + 1); };
  std::map<std::string, int> uses;
  for (const std::string& name : taken) {
    ++uses[name];
  }
  for (const std::string& path : paths) {
    ++uses[last_part(path)];
  }
  std::vector<std::string> names;
  for (const std::string& path : paths) {
    names.push_back(uses[last_part(path)] > 1 ? path : last_part(path));
  }
  return names;
}

}  // namespace backplane
