#include "store/attempt_files.hpp"

#include <algorithm>
#include <string_view>

#include "base/files.hpp"
#include "tf_events/crc32c.hpp"

namespace backplane {

FileHash HashOf(const std::string& text) { return {text.size(), Sha256(text)}; }

MetricsPart ReadMetricsPart(const std::filesystem::path& attempt_dir, uint64_t bytes) {
  std::ifstream stream = OpenStream(attempt_dir / "metrics.jsonl");
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
  try {
    return RecordFromJson<MetricsRecord>(result).metrics_parts;
  } catch (const RecordError&) {
    return std::nullopt;
  }
}

AttemptFiles FilesOf(const std::filesystem::path& attempt_dir, const std::optional<std::string>& text,
                     const nlohmann::json& result) {
  const auto parts = MetricsPartsOf(result);
  AttemptFiles files;
  files.metrics_lines = parts && !parts->empty() ? parts->back().lines : ReadMetricsPart(attempt_dir, kWholeFile).lines;
  if (text) files.result = HashOf(*text);
  return files;
}

}  // namespace backplane
