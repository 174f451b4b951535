// Runs `backplane`, which executes the measurements of a study.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace backplane {

// Thrown if it ended without the expected answer, after printing the reason. The study ends with the same exit code.
class HostEnded : public std::runtime_error {
 public:
  explicit HostEnded(int code) : std::runtime_error("`backplane run` failed"), code(code) {}
  const int code;
};

// Runs $BACKPLANE_PROGRAM, else the program next to this one, with these words. Returns its exit code. It has the terminal of
// this process, or writes its results to `output`. It gets each SIGINT, SIGTERM and SIGHUP of this process once, whether or not
// the signal was for the whole process group, and stops and continues with it. If a signal kills it, the same signal ends this
// process. `typed_program`: `backplane` as the person typed it. [main thread]
int RunHost(const std::string& typed_program, std::vector<std::string> words, const std::filesystem::path& output = {});

}  // namespace backplane
