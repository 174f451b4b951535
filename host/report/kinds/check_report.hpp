// What is wrong with `report:` of an experiment file, before anything is started.
#pragma once

#include <vector>

#include "config/loader.hpp"

namespace backplane {

std::vector<KeyError> CheckReport(const ReportConfig& report);

}  // namespace backplane
