#include "record/disk_use.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <set>
#include <string_view>
#include <utility>

#include "record/kept_start.hpp"
#include "record/results_folder.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;

// Relative to open folders: without a path to resolve for each of up to millions of files.
class DiskWalk {
 public:
  // Takes the descriptor. `is_checkpoint`: the files directly in this folder are checkpoints.
  void Add(int fd, bool is_checkpoint) {
    DIR* const folder = fd < 0 ? nullptr : fdopendir(fd);
    if (folder == nullptr) {
      if (fd >= 0) close(fd);
      return;
    }
    while (const dirent* entry = readdir(folder)) {
      const std::string_view name = entry->d_name;
      struct stat status {};
      if (name == "." || name == ".." || fstatat(fd, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
      const bool is_folder = S_ISDIR(status.st_mode);
      if (is_folder || status.st_nlink == 1 || linked_.emplace(status.st_dev, status.st_ino).second)
        Count(static_cast<uint64_t>(status.st_blocks) * kBlock, is_checkpoint || name == kStartFile);
      if (is_folder) Add(openat(fd, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), HasCheckpoints(name));
    }
    closedir(folder);
  }
  const DiskUse& use() const { return use_; }

 private:
  static constexpr uint64_t kBlock = 512;  // of st_blocks

  // OUT/trials/ID/checkpoint/FILE, or checkpoint.before-attempt-2 instead of checkpoint. OUT/starts/HASH/start.bin is a
  // checkpoint of another trial.
  bool HasCheckpoints(std::string_view folder) const { return folder == own_ || folder.starts_with(own_ + ".before-"); }

  void Count(uint64_t bytes, bool of_checkpoint) {
    use_.bytes += bytes;
    if (of_checkpoint) use_.checkpoints += bytes;
  }

  const std::string own_ = TrialFolder{}.checkpoint().string();
  DiskUse use_;
  std::set<std::pair<dev_t, ino_t>> linked_;  // with further names
};

}  // namespace

DiskUse DiskUseOf(const fs::path& out) {
  DiskWalk walk;
  walk.Add(open(out.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC), /*is_checkpoint=*/false);
  return walk.use();
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
