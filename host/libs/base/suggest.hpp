// "did you mean": the names nearest to a misspelt one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace backplane {

struct Candidate {
  std::string word;   // compared with the misspelt name
  std::string shown;  // suggested text
};

// Each name unchanged.
std::vector<Candidate> Candidates(const std::vector<std::string>& names);

// At most three, nearest first, earlier candidates first among equals; empty when none is near. Letters' case does not count.
std::vector<std::string> Nearest(std::string_view name, const std::vector<Candidate>& candidates);

// The same; if none is near, the names that `name` abbreviates: "elite_frac" and "ent_coef" mean `elite_fraction` and
// `entropy_coeff`. Only for options, whose set is complete; an unknown measure may share a prefix with a known one.
std::vector<std::string> NearestOrLonger(std::string_view name, const std::vector<Candidate>& candidates);

// "; did you mean 'a' or 'b'?", or "".
std::string DidYouMean(const std::vector<std::string>& names);

}  // namespace backplane
