// gnuplot as a subprocess.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace backplane {

struct GnuplotRun {
  bool started = false;  // false: it is not on PATH, or can not be executed
  bool ok = false;       // exit code 0
  std::string said;      // the first of its stdout and stderr; where it did not end by itself, how it ended
};

// Runs `gnuplot --default-settings ARGUMENTS` in `folder` without input; the user's own gnuplot settings do not count. Ends it
// after a minute. Any thread.
GnuplotRun RunGnuplot(const std::vector<std::string>& arguments, const std::filesystem::path& folder);

inline constexpr const char* kInstallGnuplot = "install the Debian package gnuplot-nox, or call scripts/bootstrap";

}  // namespace backplane
