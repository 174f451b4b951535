// Names of measures in an experiment file, before the start: whether anything will be recorded under them.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "record/recorded_measures.hpp"
#include "record/report_check.hpp"

namespace backplane {

// Of `report:` of kind comparison, of `output.live` and of compare.metric (`compared`; empty: none). `recorded`: what trials
// will record (trial/recorded_names.hpp); the host's own measures are known. Paths of a configuration are names too, and only
// the host knows them.
std::vector<Misnamed> FindMisnamed(const ReportSection& report, const std::vector<std::string>& live,
                                   const std::set<std::string>& recorded, const std::string& compared = "");

// The direction of a metric, according to the host, `report`, or a plugin: 1 up is better, -1 down, 0 unknown.
int DirectionOf(const std::string& metric, const RecordedMeasures& recorded, const ReportSection& report = {});
bool IsUndirected(const ComparedMeasure& compared, const RecordedMeasures& recorded, const ReportSection& report = {});

}  // namespace backplane
