// A temporary folder, removed with its content by the destructor.
#pragma once

#include <filesystem>
#include <string>

namespace backplane {

class ScratchFolder {
 public:
  // Makes `path`. Throws std::filesystem::filesystem_error.
  explicit ScratchFolder(std::filesystem::path path);
  // Creates a new folder among the system's temporary files. Throws std::runtime_error.
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// Makes `path` with the mode 0700 in a folder that others write to, such as /tmp, or finds it there. Throws std::runtime_error,
// also if it is a link, belongs to a different user, or can be written by others.
void MakeOwnFolder(const std::filesystem::path& path);
// Makes a folder "PREFIX-XXXXXX" with a name that is free among the system's temporary files. Throws std::runtime_error.
std::filesystem::path MakeTemporaryFolder(const std::string& prefix);

}  // namespace backplane
