// Commands of this program for words that users of other tools type.
#pragma once

#include <string>
#include <vector>

#include "base/suggest.hpp"

namespace backplane {

// "run FILE" for "train", or a sentence if no single command does it; empty: unknown. A text with a backtick closes its own
// quotes.
std::string MeantByCommand(const std::string& word);

// Every path that `--set` accepts for the experiment file among the words, under each of its names.
std::vector<Candidate> NamesToSet(const std::vector<std::string>& words);

}  // namespace backplane
