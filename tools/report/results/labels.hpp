// Short labels for things that are alike but for a few traits.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace backplane {

using Traits = std::vector<std::pair<std::string, std::string>>;  // name, value; each name once

// NULL: it has no such trait.
const std::string* FindTrait(const Traits& traits, const std::string& name);

// Names of the traits that are not the same everywhere, in the order in which they first stand.
std::vector<std::string> DifferingTraits(const std::vector<Traits>& all);

// "name=value" of the fewest traits that distinguish all, earlier ones first. Empty for a single entry.
std::vector<std::string> LabelsOf(const std::vector<Traits>& all);

}  // namespace backplane
