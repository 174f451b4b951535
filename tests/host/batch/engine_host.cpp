// A supervisor for tests to kill: engine_host BACKPLANE LOCK_FILE COUNT PROGRAM ARGUMENTS... runs COUNT jobs under a lock. With
// ENGINE_HOST_STATUS the jobs have that status file and a silence limit of 1 s.
#include <fcntl.h>
#include <sys/file.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "batch/local_engine.hpp"

int main(int argc, char** argv) {
  const int lock = open(argv[2], O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (argc < 5 || flock(lock, LOCK_EX | LOCK_NB) != 0) {
    return 1;
  }
  backplane::LocalEngine engine(argv[1]);
  backplane::TrialCommand command;
  command.child = {argv[4], {argv + 5, argv + argc}, {}, {}, {}, {lock}};
  command.grace_s = 0.1;
  if (const char* const status = std::getenv("ENGINE_HOST_STATUS")) {
    command.status_file = status;
    command.silence_limit_s = 1;
  }
  for (int i = 0; i < std::stoi(argv[3]); ++i) {
    engine.Start(command);
  }
  std::puts("started");
  std::fflush(stdout);
  for (;;) {
    for (const backplane::JobEnd& end : engine.Wait(1000)) {
      std::printf("ended %d %s\n", end.over_silence, end.stuck.c_str());
      std::fflush(stdout);
    }
  }
}
