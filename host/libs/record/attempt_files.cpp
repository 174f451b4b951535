#include "record/attempt_files.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "base/files.hpp"
#include "base/sha256.hpp"
#include "tf_events/crc32c.hpp"

namespace backplane {

FileHash HashOf(const std::string& text) { return {text.size(), Sha256(text)}; }

MetricsPart ReadMetricsPart(const AttemptFolder& attempt, uint64_t bytes) {
  MetricsPart part;
  std::string ignored;
  const int fd = OpenRegularFile(attempt.metrics(), &ignored);
  if (fd < 0) return part;
  char block[65536];
  ssize_t n = 0;
  while (part.bytes < bytes &&
         ((n = read(fd, block, std::min<uint64_t>(sizeof block, bytes - part.bytes))) > 0 || (n < 0 && errno == EINTR))) {
    if (n < 0) continue;
    const std::string_view text(block, static_cast<size_t>(n));
    part.lines += static_cast<uint64_t>(std::count(text.begin(), text.end(), '\n'));
    part.bytes += text.size();
    part.crc32c = Crc32c(text, part.crc32c);
  }
  close(fd);
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
