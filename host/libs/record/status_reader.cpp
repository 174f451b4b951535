#include "record/status_reader.hpp"

#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <string>

#include "base/files.hpp"

namespace backplane {

StatusReader::~StatusReader() {
  if (fd_ >= 0) {
    close(fd_);
  }
}

std::optional<StatusFile> StatusReader::Read() {
  if (fd_ < 0 && !file_.empty()) {
    std::string being_made;
    fd_ = OpenRegularFile(file_, &being_made);
  }
  // Read instead of mapping the file: if the trial truncates it, a mapping would kill the reader with SIGBUS.
  StatusFile copy{};
  // Files of earlier versions end before the fields that were added last.
  if (fd_ < 0 || pread(fd_, &copy, sizeof copy, 0) < static_cast<ssize_t>(offsetof(StatusFile, own_s)) ||
      std::strncmp(copy.magic, kStatusMagic, sizeof copy.magic) != 0) {
    return std::nullopt;  // not written yet
  }
  for (StatusFile::Live& live : copy.live) live.name[sizeof live.name - 1] = '\0';
  copy.phase[sizeof copy.phase - 1] = copy.plugin[sizeof copy.plugin - 1] = copy.line[sizeof copy.line - 1] = '\0';
  return copy;
}

}  // namespace backplane
