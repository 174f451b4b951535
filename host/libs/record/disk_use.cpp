#include "record/disk_use.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <set>
#include <utility>

#include "record/kept_start.hpp"
#include "record/results_folder.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;

// OUT/trials/ID/checkpoint/FILE, or checkpoint.before-attempt-2 instead of checkpoint; OUT/starts/HASH/start.bin, which is a
// checkpoint of another trial.
bool IsOfCheckpoint(const fs::path& file) {
  if (file.filename() == kStartFile) return true;
  const std::string own = TrialFolder{}.checkpoint().string(), folder = file.parent_path().filename().string();
  return folder == own || folder.starts_with(own + ".before-");
}

}  // namespace

DiskUse DiskUseOf(const fs::path& out) {
  constexpr uint64_t kBlock = 512;  // of st_blocks
  DiskUse use;
  std::set<std::pair<dev_t, ino_t>> linked;  // with further names
  std::error_code error;
  fs::recursive_directory_iterator it(out, fs::directory_options::skip_permission_denied, error);
  for (; !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
    struct stat status {};
    if (lstat(it->path().c_str(), &status) != 0) continue;
    if (!S_ISDIR(status.st_mode) && status.st_nlink > 1 && !linked.emplace(status.st_dev, status.st_ino).second) continue;
    const uint64_t bytes = static_cast<uint64_t>(status.st_blocks) * kBlock;
    use.bytes += bytes;
    if (IsOfCheckpoint(it->path())) use.checkpoints += bytes;
  }
  return use;
}

std::string SizeText(uint64_t bytes) {
  constexpr double kStep = 1024;
  double value = static_cast<double>(bytes);
  const char* unit = "bytes";
  for (const char* larger : {"KiB", "MiB", "GiB", "TiB"}) {
    if (value < kStep) break;
    value /= kStep, unit = larger;
  }
  return fmt::format("{:.{}f} {}", value, bytes < 1024 ? 0 : 1, unit);
}

}  // namespace backplane
