// Numbers, durations and sizes in human notation. Readers accept only complete texts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace backplane {

std::optional<int64_t> ParseInteger(std::string_view text);      // decimal digits with a sign
std::optional<int64_t> ParseWholeNumber(std::string_view text);  // "1e5", "2.0": an integer that a double represents exactly
std::optional<double> ParseNumber(std::string_view text);        // finite
std::optional<double> ParseDuration(std::string_view text);      // "1h30m", "90s", "1.5h": seconds
std::optional<uint64_t> ParseSize(std::string_view text);        // "16GiB", "4GB": bytes
std::optional<double> ParsePercent(std::string_view text);       // "5%", "0.5%": percent

// Round-trip through ParseDuration, ParseSize and ParsePercent.
std::string FormatDuration(double seconds);
std::string FormatSize(uint64_t bytes);
std::string FormatPercent(double percent);

}  // namespace backplane
