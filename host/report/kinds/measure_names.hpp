// Names of measures in an experiment file, before the start: whether anything will be recorded under them.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "record/report_check.hpp"

namespace backplane {

// Of `report:` of kind comparison and of `output.live`. `recorded`: what trials will record (trial/recorded_names.hpp); the
// host's own measures are known. Paths of a configuration are names too, and only the host knows them.
std::vector<Misnamed> FindMisnamed(const ReportSection& report, const std::vector<std::string>& live,
                                   const std::set<std::string>& recorded);

}  // namespace backplane
