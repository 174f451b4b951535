// Checks `report:` of an experiment file before anything is started.
#pragma once

#include <vector>

#include "record/report_check.hpp"

namespace backplane {

std::vector<ReportError> CheckReport(const ReportSection& report);

}  // namespace backplane
