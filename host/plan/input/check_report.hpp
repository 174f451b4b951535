// What backplane-report finds wrong with `report:` of an experiment file. A report program that dies costs the check and no
// batch: a note on stderr says so.
#pragma once

#include <vector>

#include "config/loader.hpp"
#include "record/report_check.hpp"

namespace backplane {

// A section whose values the host knows itself costs no process.
std::vector<ReportError> ErrorsOfReport(const ReportConfig& report);

// What is wrong with the measures of `report:`, output.live and `compare:` (`compared`): names under which nothing is recorded,
// among them paths of the configuration, and one of which nobody says what is better.
ReportCheckAnswer CheckMeasures(const Experiment& experiment, const ComparedMeasure& compared,
                                const RecordedMeasures& recorded);

}  // namespace backplane
