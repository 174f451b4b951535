#include "scratch.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>

namespace backplane::fuzz {
namespace {

// A second process deletes the folder when this process's end closes the pipe, because inputs may kill this process, even by
// SIGKILL. It has its own session, so Ctrl-C does not reach it.
void RemoveAtTheEnd(const std::string& folder) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) std::abort();
  const pid_t process = fork();
  if (process < 0) std::abort();
  if (process > 0) {
    close(ends[0]);
    return;
  }
  setsid();
  close(ends[1]);
  char none;
  while (read(ends[0], &none, 1) < 0 && errno == EINTR) {
  }
  execl("/bin/rm", "rm", "-rf", "--", folder.c_str(), nullptr);
  _exit(127);
}

std::string MakeFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "backplane-fuzz-XXXXXX").string();
  if (!mkdtemp(name.data())) std::abort();
  RemoveAtTheEnd(name);
  return name;
}

}  // namespace

const std::filesystem::path& ScratchFolder() {
  static const std::filesystem::path folder = MakeFolder();
  return folder;
}

}  // namespace backplane::fuzz
