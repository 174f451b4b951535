#include "contract/checkpoint_files.hpp"

#include <charconv>
#include <cstdint>
#include <string>

namespace backplane {

namespace fs = std::filesystem;

std::vector<fs::path> LearnerFilesIn(const fs::path& dir) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator it(dir, error), end; !error && it != end; it.increment(error))
    if (it->path().extension() == kLearnerFileSuffix) files.push_back(it->path());
  return files;
}

bool IsCheckpointFile(const fs::path& file) {
  std::error_code error;
  return fs::is_regular_file(file, error);
}

fs::path CheckpointFile(const fs::path& dir, unsigned number) {
  return dir / (number == 0 ? kCheckpointFile : "checkpoint." + std::to_string(number) + ".bin");
}

std::string WhyNoCheckpointName(std::string_view word) {
  uint64_t iterations = 0;
  const char* const end = word.data() + word.size();
  const auto read = std::from_chars(word.data(), end, iterations);
  if (word == kLastCheckpoint || word == kBestCheckpoint || word == kStartCheckpoint ||
      (read.ec == std::errc() && read.ptr == end))
    return "";
  return "--checkpoint: expected last, best, start or a number of iterations, got '" + std::string(word) + "'";
}

bool HasCheckpoint(const fs::path& dir) {
  for (unsigned number = 0; number < kKeptCheckpoints; ++number)
    if (IsCheckpointFile(CheckpointFile(dir, number))) return true;
  return IsCheckpointFile(dir / kBestCheckpointFile);
}

}  // namespace backplane
