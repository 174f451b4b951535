// Measures of the host itself: direction, unit, and words for titles.
#pragma once

#include <string>
#include <string_view>

namespace backplane {

struct HostMeasure {
  std::string_view name;
  int direction;  // 1 up is better, -1 down, 0 neither
  const char* unit;
  const char* words = nullptr;  // null: made of the name
};

inline constexpr HostMeasure kHostMeasures[] = {
    {"SPS", 1, "1/s", "steps per second"},
    {"sampling_sps", 1, "1/s", "steps per second of collecting only"},
    {"wall_s", -1, "s", "training time"},
    {"minutes", -1, "min", "training time in minutes"},
    {"iteration_s", -1, "s", "time of an iteration"},
    {"attempt_s", -1, "s", "time with start and stop"},
    {"cpu_s", -1, "s"},
    {"seconds_per_episode", -1, "s"},
    {"steps_per_episode", 0, ""},
    {"return", 1, ""},
    {"eval/return", 1, ""},
    {"rss_peak_mb", -1, "MiB", "peak memory"},
    {"vram_peak_mb", -1, "MiB", "peak GPU memory"},
};

// Null for a name that the host does not measure.
const HostMeasure* FindHostMeasure(std::string_view name);

// Words for titles and axes: "peak memory" for "rss_peak_mb", "evaluation success rate" for "eval/success_rate".
std::string MeasureWords(const std::string& name);

}  // namespace backplane
