// Checks `report:` of an experiment file by backplane-report. If that program dies, the check is skipped with a note on stderr,
// and the batch runs.
#pragma once

#include <vector>

#include "config/loader.hpp"
#include "record/report_check.hpp"

namespace backplane {

// A section whose values the host knows itself costs no process.
std::vector<ReportError> ErrorsOfReport(const ReportConfig& report);

// Errors in the measures of `report:`, output.live and `compare:` (`compared`): names without a record, such as paths of the
// configuration, and one without a known better direction.
ReportCheckAnswer CheckMeasures(const Experiment& experiment, const ComparedMeasure& compared,
                                const RecordedMeasures& recorded);

}  // namespace backplane
