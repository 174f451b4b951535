// Maps commands of other tools to the command of this program that does the same.
#pragma once

#include <string>
#include <vector>

#include "base/suggest.hpp"

namespace backplane {

// "run FILE" for "train", or a sentence if it takes more than one command. Empty: the word is unknown.
std::string MeantByCommand(const std::string& word);

// Every path that `--set` accepts for the experiment file among the words, under each of its names.
std::vector<Candidate> NamesToSet(const std::vector<std::string>& words);

}  // namespace backplane
