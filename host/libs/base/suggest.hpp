// "did you mean": the names nearest to a misspelt one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace backplane {

struct Candidate {
  std::string word;   // compared with the misspelt name
  std::string shown;  // what the user is told to write
};

// Each name as it is.
std::vector<Candidate> Candidates(const std::vector<std::string>& names);

// At most three, nearest first, earlier candidates first among equals; empty when none is near. Letters' case does not count.
std::vector<std::string> Nearest(std::string_view name, const std::vector<Candidate>& candidates);

// The same; where none is near, those that the name abbreviates: "elite_frac" and "ent_coef" mean `elite_fraction` and
// `entropy_coeff`. For names of options, which all are known; a measure that is told later may begin as another does.
std::vector<std::string> NearestOrLonger(std::string_view name, const std::vector<Candidate>& candidates);

// "; did you mean 'a' or 'b'?", or nothing.
std::string DidYouMean(const std::vector<std::string>& names);

}  // namespace backplane
