#include "base/scratch_folder.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <system_error>

namespace backplane {

ScratchFolder::ScratchFolder(std::filesystem::path path) : path_(std::move(path)) {
  std::filesystem::create_directories(path_);
}

ScratchFolder::ScratchFolder() { path_ = MakeTemporaryFolder("backplane"); }

ScratchFolder::~ScratchFolder() {
  std::error_code error;
  std::filesystem::remove_all(path_, error);
}

std::filesystem::path MakeTemporaryFolder(const std::string& prefix) {
  std::string name = (std::filesystem::temp_directory_path() / (prefix + "-XXXXXX")).string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot create a folder in " + name);
  return name;
}

void MakeOwnFolder(const std::filesystem::path& path) {
  if (mkdir(path.c_str(), 0700) == 0) return;
  if (errno != EEXIST) throw std::runtime_error(path.string() + ": cannot be created: " + std::strerror(errno));
  struct stat found {};
  if (lstat(path.c_str(), &found) != 0) throw std::runtime_error(path.string() + ": cannot be read: " + std::strerror(errno));
  std::string why;
  if (!S_ISDIR(found.st_mode)) why = "it is not a folder";
  if (why.empty() && found.st_uid != geteuid()) why = "it belongs to user " + std::to_string(found.st_uid);
  if (why.empty() && (found.st_mode & (S_IWGRP | S_IWOTH)) != 0) why = "other users can write to it";
  if (why.empty()) return;
  throw std::runtime_error(path.string() + ": expected a folder that only user " + std::to_string(geteuid()) +
                           " can write to, but " + why + "; remove it, or set TMPDIR to a folder of your own");
}

}  // namespace backplane
