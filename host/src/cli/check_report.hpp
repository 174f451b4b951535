// What backplane-report finds wrong with `report:` of an experiment file. A report program that dies costs the check and no
// batch: a note on stderr says so.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "config/loader.hpp"
#include "record/report_check.hpp"

namespace backplane {

// A section whose values the host knows itself costs no process.
std::vector<ReportError> ErrorsOfReport(const ReportConfig& report);

// Names in `report:` and output.live under which nothing is recorded, among them paths of the configuration. `recorded`: what
// trials will record.
std::vector<Misnamed> MisnamedIn(const Experiment& experiment, const std::set<std::string>& recorded);

}  // namespace backplane
