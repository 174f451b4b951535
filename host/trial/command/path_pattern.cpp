#include "command/path_pattern.hpp"

#include <utility>

namespace backplane {
namespace {

bool MatchesName(std::string_view pattern, std::string_view name) {
  if (pattern.empty()) return name.empty();
  if (pattern.front() == '*')
    return MatchesName(pattern.substr(1), name) || (!name.empty() && MatchesName(pattern, name.substr(1)));
  return !name.empty() && (pattern.front() == '?' || pattern.front() == name.front()) &&
         MatchesName(pattern.substr(1), name.substr(1));
}

// Splits off the first name at its slash.
std::pair<std::string_view, std::string_view> SplitFirst(std::string_view path) {
  const size_t slash = path.find('/');
  return slash == path.npos ? std::pair(path, std::string_view()) : std::pair(path.substr(0, slash), path.substr(slash + 1));
}

}  // namespace

bool MatchesPath(std::string_view pattern, std::string_view path) {
  if (pattern.empty()) return path.empty();
  const auto [wanted, wanted_rest] = SplitFirst(pattern);
  if (wanted == "**") {
    if (wanted_rest.empty()) return !path.empty();
    return MatchesPath(wanted_rest, path) || (!path.empty() && MatchesPath(pattern, SplitFirst(path).second));
  }
  const auto [name, rest] = SplitFirst(path);
  return !name.empty() && MatchesName(wanted, name) && MatchesPath(wanted_rest, rest);
}

}  // namespace backplane
