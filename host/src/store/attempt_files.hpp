// Takes down what an attempt left on the disk, for its event.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "record/attempt_files.hpp"
#include "record/results_folder.hpp"

namespace backplane {

FileHash HashOf(const std::string& text);

// As result.json tells them, the attempt's own last; absent in one of an older version, or one that the supervisor wrote.
std::optional<std::vector<MetricsPart>> MetricsPartsOf(const nlohmann::json& result);

inline constexpr uint64_t kWholeFile = UINT64_MAX;
// The first `bytes` of metrics.jsonl in `attempt`, or as many as there are: lines, bytes and checksum of these.
MetricsPart ReadMetricsPart(const AttemptFolder& attempt, uint64_t bytes);

// `text`: of its result.json; absent: it has none. `result` is the same, parsed: the lines are as many as the trial wrote, if
// it could say so, and else those that are there.
AttemptFiles FilesOf(const AttemptFolder& attempt, const std::optional<std::string>& text, const nlohmann::json& result);

}  // namespace backplane
