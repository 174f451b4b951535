// What an attempt wrote as JSON: result.json and metrics.jsonl. Nothing of it is believed, as a plugin's code may have written
// there too: neither the kind of the file nor its size, nor how deep it is nested.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "base/files.hpp"
#include "record/iteration.hpp"
#include "record/results_folder.hpp"
#include "record/trial_result.hpp"

namespace backplane {

inline constexpr uint64_t kMaxResultBytes = uint64_t{64} << 20;  // thousands of times what a result of ours has

// Discarded if it is no JSON, or nested too deeply.
nlohmann::json ParseAttemptJson(std::string_view text);

FileText ReadResultText(const std::filesystem::path& file);
// Absent if it is not an object with a "state".
std::optional<nlohmann::json> ParseResultJson(std::string_view text);
// Absent also if there is no file, or one that is too large.
std::optional<nlohmann::json> ReadResultJson(const std::filesystem::path& file);

// Of nothing that is known where there is no such file, or it is broken.
TrialResult ReadResult(const AttemptFolder& attempt);

// Calls `use` with each line of metrics.jsonl that is an object, in their order. A last line without its end is torn, and
// passed over.
void ForEachIteration(const std::filesystem::path& file, const std::function<void(const Iteration&)>& use);

}  // namespace backplane
