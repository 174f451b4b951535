// Short labels for objects that differ in a few traits.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace backplane {

using Traits = std::vector<std::pair<std::string, std::string>>;  // name, value; each name once

// NULL if the trait is missing.
const std::string* FindTrait(const Traits& traits, const std::string& name);

// Names of traits that differ, in order of first appearance.
std::vector<std::string> DifferingTraits(const std::vector<Traits>& all);

// "name=value" of the fewest traits that distinguish all, earlier ones first. Empty for a single entry.
std::vector<std::string> LabelsOf(const std::vector<Traits>& all);

}  // namespace backplane
