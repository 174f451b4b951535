#include "base/scratch_folder.hpp"

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <system_error>

namespace backplane {

ScratchFolder::ScratchFolder(std::filesystem::path path) : path_(std::move(path)) {
  std::filesystem::create_directories(path_);
}

ScratchFolder::ScratchFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "backplane-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder can be made in " + name);
  path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code error;
  std::filesystem::remove_all(path_, error);
}

}  // namespace backplane
