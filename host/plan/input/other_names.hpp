// What people type who know other tools: the command of this program that does it.
#pragma once

#include <string>
#include <vector>

namespace backplane {

// "run FILE" for "train", or a sentence where no one command does it; empty: not known.
std::string MeantByCommand(const std::string& word);

// A sentence about an option of another tool that nothing is needed for; empty: none is known.
std::string AnswerToOption(const std::string& name);

// `--lr` behind `run FILE`: the value that it may mean, as an argument to paste: "--set learner.options.lr=1e-3"; empty if
// nothing has such a name. `words` is all that was typed; in_full: no name that is only near.
std::string MeantByOption(const std::string& name, const std::string& value, const std::vector<std::string>& words,
                          bool in_full);

}  // namespace backplane
