#include "record/attempt_files.hpp"

#include <algorithm>
#include <string_view>

#include "base/files.hpp"
#include "base/sha256.hpp"
#include "tf_events/crc32c.hpp"

namespace backplane {

FileHash HashOf(const std::string& text) { return {text.size(), Sha256(text)}; }

MetricsPart ReadMetricsPart(const AttemptFolder& attempt, uint64_t bytes) {
  std::ifstream stream = OpenStream(attempt.metrics());
  MetricsPart part;
  char block[65536];
  while (part.bytes < bytes && stream) {
    stream.read(block, static_cast<std::streamsize>(std::min<uint64_t>(sizeof block, bytes - part.bytes)));
    const std::string_view read(block, static_cast<size_t>(stream.gcount()));
    part.lines += static_cast<uint64_t>(std::count(read.begin(), read.end(), '\n'));
    part.bytes += read.size();
    part.crc32c = Crc32c(read, part.crc32c);
  }
  return part;
}

std::optional<std::vector<MetricsPart>> MetricsPartsOf(const nlohmann::json& result) {
  return RecordOrNothing<MetricsRecord>(result).value_or(MetricsRecord()).metrics_parts;
}

AttemptFiles FilesOf(const AttemptFolder& attempt, const std::optional<std::string>& text, const nlohmann::json& result) {
  const auto parts = MetricsPartsOf(result);
  AttemptFiles files;
  files.metrics_lines = parts && !parts->empty() ? parts->back().lines : ReadMetricsPart(attempt, kWholeFile).lines;
  if (text) files.result = HashOf(*text);
  return files;
}

}  // namespace backplane
