// What to do about results that are not whole, or not to be trusted: sentences that stand before all others.
#pragma once

#include <string>
#include <vector>

#include "results/result_set.hpp"

namespace backplane {

// For an interrupted batch: the finished part and the command that resumes it. Empty if the batch finished.
std::vector<std::string> HowToGoOn(const ResultSet& set, const std::string& program);
// A sentence of the headline as it is written after a colon; points keep their names.
std::string AfterColon(std::string headline);
// Puts the warning about a busy machine, unless it is empty, before a headline that is about times.
std::string AsMeasured(const std::string& why_void, const std::string& headline);
// Advice for times measured while other programs used the cores.
std::string HowToTrust(const std::vector<ResultSet>& sets, const std::string& program);

}  // namespace backplane
