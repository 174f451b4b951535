// `report:` of an experiment file, as it stands in config.yaml.
#pragma once

#include <nlohmann/json.hpp>

#include "config/experiment.hpp"

namespace backplane {

// What the report itself is made from; report.precision and report.max_time are for the trials.
ReportConfig ReportConfigOf(const nlohmann::json& report);

}  // namespace backplane
