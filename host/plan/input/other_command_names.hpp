// What people type who know other tools: the command of this program that does it.
#pragma once

#include <string>
#include <vector>

#include "base/suggest.hpp"

namespace backplane {

// "run FILE" for "train", or a sentence where no one command does it; empty: not known.
std::string MeantByCommand(const std::string& word);

// Every path that `--set` accepts for the experiment file among the words, under each of its names.
std::vector<Candidate> NamesToSet(const std::vector<std::string>& words);

}  // namespace backplane
