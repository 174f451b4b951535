// "Did you mean": names close to one that does not exist.
#pragma once

#include <string>
#include <vector>

namespace backplane {

// At most three of `known`, nearest first; empty if none is near.
std::vector<std::string> Suggestions(const std::string& typed, const std::vector<std::string>& known);

// "; did you mean 'run' or 'run-trial'?", or empty.
std::string DidYouMean(const std::string& typed, const std::vector<std::string>& known);

}  // namespace backplane
