// Records the files of a trial with size and checksum, to detect missing, truncated or altered ones later.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "record/fields.hpp"
#include "record/results_folder.hpp"

namespace backplane {

// The valid prefix of an attempt's metrics.jsonl. A killed attempt may have written more lines; the next attempt wrote those
// again, starting at its checkpoint.
struct MetricsPart {
  uint64_t attempt = 0;
  uint64_t lines = 0, bytes = 0;
  uint32_t crc32c = 0;  // checksum of these bytes

  static void Fields(auto& self, auto&& visit) {
    visit("attempt", self.attempt);
    visit("lines", self.lines);
    visit("bytes", self.bytes);
    visit("crc32c", self.crc32c);
  }
};

// Part of result.json and of a checkpoint: all metrics of the trial so far, per attempt. Absent in files of older versions.
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
  uint64_t metrics_lines = 0;      // whole lines in its metrics.jsonl
  std::optional<FileHash> result;  // of result.json; absent if there is none

  static void Fields(auto& self, auto&& visit) {
    visit("metrics_lines", self.metrics_lines);
    visit("result", self.result);
  }
};

FileHash HashOf(const std::string& text);

// Reads the parts from result.json; the last one belongs to the attempt itself. Absent if an older version or the supervisor
// wrote it.
std::optional<std::vector<MetricsPart>> MetricsPartsOf(const nlohmann::json& result);

inline constexpr uint64_t kWholeFile = UINT64_MAX;
// Counts and checksums the first `bytes` of metrics.jsonl in `attempt`, or the whole file if it is shorter.
MetricsPart ReadMetricsPart(const AttemptFolder& attempt, uint64_t bytes);

// `text` is result.json, absent if there is none; `result` is the same text parsed. The line count comes from `result` if it
// contains one, else from the file.
AttemptFiles FilesOf(const AttemptFolder& attempt, const std::optional<std::string>& text, const nlohmann::json& result);

}  // namespace backplane
