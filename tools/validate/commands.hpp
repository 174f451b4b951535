// The commands of backplane-validate.
#pragma once

#include "arguments/command.hpp"
#include "arguments/complete.hpp"
#include "base/suggest.hpp"

namespace backplane {

Command ValidateCommand();
// Options of the plugins named on the command line.
std::vector<Candidate> OptionsOfPlugin(const std::vector<std::string>& words);
// Completes FILE and DIR.
Offers OfferPluginFiles(const std::string& type, const TypedLine& line);

// Reads a request from standard input and prints the answer (record/broken_rules.hpp). Returns an exit code.
int TryFastCases();

}  // namespace backplane
