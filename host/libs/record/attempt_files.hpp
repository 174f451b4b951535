// What a trial left on the disk, written down beside it: so that what is missing, short or altered later is found.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "record/fields.hpp"
#include "record/results_folder.hpp"

namespace backplane {

// The first lines of an attempt's metrics.jsonl, those that count: an attempt that was killed may have written more, which the
// next one, from the last checkpoint on, wrote again.
struct MetricsPart {
  uint64_t attempt = 0;
  uint64_t lines = 0, bytes = 0;
  uint32_t crc32c = 0;  // of these bytes

  static void Fields(auto& self, auto&& visit) {
    visit("attempt", self.attempt);
    visit("lines", self.lines);
    visit("bytes", self.bytes);
    visit("crc32c", self.crc32c);
  }
};

// In result.json, and in the checkpoint of a trial that goes on later: all of its metrics up to there, attempt by attempt.
// Absent in what older versions wrote.
struct MetricsRecord {
  std::optional<std::vector<MetricsPart>> metrics_parts;

  static void Fields(auto& self, auto&& visit) { visit("metrics_parts", self.metrics_parts); }
};

struct FileHash {
  uint64_t bytes = 0;
  std::string sha256;  // 64 lower-case hex digits

  static void Fields(auto& self, auto&& visit) {
    visit("bytes", self.bytes);
    visit("sha256", self.sha256);
  }
};

// In the event attempt.end, as "files".
struct AttemptFiles {
  uint64_t metrics_lines = 0;      // whole lines of its metrics.jsonl
  std::optional<FileHash> result;  // of its result.json; absent: it has none

  static void Fields(auto& self, auto&& visit) {
    visit("metrics_lines", self.metrics_lines);
    visit("result", self.result);
  }
};

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
