#include "kinds/host_measures.hpp"

#include <algorithm>

namespace backplane {

const HostMeasure* FindHostMeasure(std::string_view name) {
  const auto* const found = std::ranges::find(kHostMeasures, name, &HostMeasure::name);
  return found == std::end(kHostMeasures) ? nullptr : found;
}

std::string MeasureWords(const std::string& name) {
  if (const HostMeasure* known = FindHostMeasure(name); known != nullptr && known->words != nullptr) return known->words;
  // An expression stays as it is: a slash divides there.
  if (name.find_first_of(" (") != std::string::npos) return name;
  std::string words = name;
  if (words.starts_with("eval/")) words.replace(0, 5, "evaluation ");
  if (words.starts_with("ep/")) words.replace(0, 3, "episode ");
  std::replace_if(
      words.begin(), words.end(), [](char c) { return c == '/' || c == '_'; }, ' ');
  return words;
}

}  // namespace backplane
