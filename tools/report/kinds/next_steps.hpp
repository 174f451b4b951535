// What to do about results that are not whole, or not to be trusted: sentences that stand before all others.
#pragma once

#include <string>
#include <vector>

#include "results/result_set.hpp"

namespace backplane {

// Of a batch that was stopped on the way: what is finished, and the command that goes on. Empty: it came to its end.
std::vector<std::string> HowToGoOn(const ResultSet& set, const std::string& program);
// Puts the warning about a busy machine, unless it is empty, before a headline that is about times.
std::string AsMeasured(const std::string& why_void, const std::string& headline);
// Of times that were measured while other programs wanted the cores.
std::string HowToTrust(const std::vector<ResultSet>& sets, const std::string& program);

}  // namespace backplane
