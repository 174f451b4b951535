// The Python files that a script or a module may import from the folder it stands in.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace backplane {

inline constexpr size_t kMaxPythonFiles = 2000;
inline constexpr uint64_t kMaxPythonBytes = 64 << 20;

// True for a name that ends in `.py` or a first line that names Python as the interpreter.
bool IsPython(const std::filesystem::path& file);

// All `*.py` in a folder and in those below it, by their paths from there. Leaves out hidden folders, `__pycache__`,
// `node_modules` and virtual environments (a `pyvenv.cfg`). Also leaves out folders of results and trials, where a script may
// save copies of itself. Absent: more than kMaxPythonFiles, or larger than kMaxPythonBytes in total.
std::optional<std::map<std::string, std::filesystem::path>> PythonFilesBelow(const std::filesystem::path& folder);

}  // namespace backplane
