// Reads an attempt's result.json and metrics.jsonl. Both are untrusted, because plugin code can write to them: type, size and
// nesting depth are checked.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "base/files.hpp"
#include "record/attempt_files.hpp"
#include "record/iteration.hpp"
#include "record/results_folder.hpp"
#include "record/trial_result.hpp"

namespace backplane {

inline constexpr uint64_t kMaxResultBytes = uint64_t{64} << 20;  // far above the size of any real result

// Discarded if the text is not JSON or nested too deeply.
nlohmann::json ParseAttemptJson(std::string_view text);

FileText ReadResultText(const std::filesystem::path& file);
// Absent unless the text is an object with a "state".
std::optional<nlohmann::json> ParseResultJson(std::string_view text);
// Absent also if the file is missing or too large.
std::optional<nlohmann::json> ReadResultJson(const std::filesystem::path& file);

// All fields are unknown if the file is missing or broken.
TrialResult ReadResult(const AttemptFolder& attempt);

// Calls `use` with each line of metrics.jsonl that is an object, in order. Skips a torn last line.
void ForEachIteration(const std::filesystem::path& file, const std::function<void(const Iteration&)>& use);
// The same for the valid lines of several attempts of a trial.
void ForEachIteration(const TrialFolder& trial, const std::vector<MetricsPart>& parts,
                      const std::function<void(const Iteration&)>& use);

}  // namespace backplane
