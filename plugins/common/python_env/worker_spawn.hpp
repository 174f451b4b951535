// Spawns the processes of a Python env: descriptors, environment, program.
#pragma once

#include <spawn.h>
#include <sys/types.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "python_env/file.hpp"

namespace backplane::python_env {

// The descriptors of a worker; worker/start.py has the same numbers.
enum : int { kCommands = 3, kReplies, kMemory, kSource, kLife, kHostMemory, kFirstFree };

// Throws bp::Error with the text of `errno`.
[[noreturn]] void FailWith(const std::string& what);

// Takes ownership of `fd` and returns a copy with a number above the workers' descriptors, which child processes do not
// inherit. Throws bp::Error.
File Checked(int fd, const char* what);
// The read end is first.
std::array<File, 2> Pipe();
// A socket, because writing to the pipe of a dead process would raise a signal. Our end is first.
std::array<File, 2> SocketPair();
// A program of workers, as a file in memory.
File SourceFile(std::string_view text);

class SpawnSetup {
 public:
  SpawnSetup();
  ~SpawnSetup();
  SpawnSetup(const SpawnSetup&) = delete;

  void Give(const File& file, int as) { posix_spawn_file_actions_adddup2(&actions_, file.fd(), as); }
  void GiveNothing(int as);
  // `threads`: of each numeric library. Throws bp::Error.
  pid_t Spawn(std::vector<std::string> arguments, uint64_t threads = 1);

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

}  // namespace backplane::python_env
