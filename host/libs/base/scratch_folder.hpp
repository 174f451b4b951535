// A folder that is gone, with all that lies in it, when the object is.
#pragma once

#include <filesystem>

namespace backplane {

class ScratchFolder {
 public:
  // Makes `path`. Throws std::filesystem::filesystem_error.
  explicit ScratchFolder(std::filesystem::path path);
  // Makes one of its own among the system's temporary files. Throws std::runtime_error.
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace backplane
