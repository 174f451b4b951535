#include "base/python.hpp"

#include <unistd.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "base/shell_argument.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;

fs::path ProgramFolder() { return fs::read_symlink("/proc/self/exe").parent_path(); }

bool IsProgram(const fs::path& file) { return access(file.c_str(), X_OK) == 0; }

// The interpreter that an installation from a clone has recorded. Empty: none, or it has gone with the clone.
std::string RecordedPython() {
  const std::string text = ReadFile(ProgramFolder() / "../lib/backplane/python.json").value_or("");
  const nlohmann::json facts = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  const auto python = facts.find("python");
  if (python == facts.end() || !python->is_string() || !IsProgram(python->get<std::string>())) return "";
  return *python;
}

}  // namespace

std::string FindPython() {
  if (const char* named = std::getenv("BACKPLANE_PYTHON"); named != nullptr && *named != '\0') return named;
  if (std::string recorded = RecordedPython(); !recorded.empty()) return recorded;
  for (fs::path folder = ProgramFolder(); folder != folder.root_path(); folder = folder.parent_path()) {
    if (const fs::path python = folder / ".venv/bin/python"; IsProgram(python)) return python;
    // A wheel was unpacked in PREFIX/lib/python3.11/site-packages, whose interpreter is PREFIX/bin/python3.11.
    const std::string version = folder.filename().string();
    if (const fs::path python = folder / "../../bin" / version; version.starts_with("python3.") && IsProgram(python))
      return python.lexically_normal();
  }
  return "python3";
}

std::string PipHint(const std::string& names, const std::string& python) {
  return "run `" + ShellArgument(python.empty() ? FindPython() : python) + " -m pip install " + names +
         "`, or set BACKPLANE_PYTHON to a different Python";
}

fs::path BesideProgram(const std::string& name) {
  for (const fs::path& folder : {ProgramFolder(), ProgramFolder().parent_path() / "bin"}) {
    if (fs::exists(folder / name)) return folder / name;
  }
  return {};
}

}  // namespace backplane
