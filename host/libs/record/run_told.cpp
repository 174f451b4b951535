#include "record/run_told.hpp"

#include <unistd.h>

#include <cstdlib>

namespace backplane {

void TellRun(int fd, const RunTold& told) {
  const std::string text =
      std::to_string(told.old_event_bytes) + "\n" + told.out.string() + "\n" + told.progress.string() + "\n";
  [[maybe_unused]] const ssize_t n = write(fd, text.data(), text.size());
  close(fd);
}

std::optional<RunTold> ReadTold(const std::string& text) {
  const size_t first = text.find('\n'), second = text.find('\n', first + 1);
  if (first == std::string::npos || second == std::string::npos || text.back() != '\n') return std::nullopt;
  return RunTold{text.substr(first + 1, second - first - 1), text.substr(second + 1, text.size() - second - 2),
                 std::strtoull(text.c_str(), nullptr, 10)};
}

}  // namespace backplane
