#include "base/python.hpp"

#include <unistd.h>

#include <cstdlib>

namespace backplane {
namespace {

namespace fs = std::filesystem;

fs::path ProgramFolder() { return fs::read_symlink("/proc/self/exe").parent_path(); }

}  // namespace

std::string FindPython() {
  if (const char* named = std::getenv("BACKPLANE_PYTHON"); named != nullptr && *named != '\0') return named;
  for (fs::path folder = ProgramFolder(); folder != folder.root_path(); folder = folder.parent_path()) {
    const fs::path python = folder / ".venv/bin/python";
    if (access(python.c_str(), X_OK) == 0) return python;
  }
  return "python3";
}

fs::path BesideProgram(const std::string& name) {
  for (const fs::path& folder : {ProgramFolder(), ProgramFolder().parent_path() / "bin"}) {
    if (fs::exists(folder / name)) return folder / name;
  }
  return {};
}

}  // namespace backplane
