#include "python_env/worker_spawn.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>

#include "backplane/errors.hpp"

extern char** environ;

namespace backplane::python_env {
namespace {

// The host's environment, with variables that results may depend on: library threads, because workers share the cores, and the
// hash seed, which otherwise varies the order of sets of strings between Python processes.
std::vector<std::string> WorkerEnvironment(const std::string& threads) {
  const std::vector<std::string> set = {"OMP_NUM_THREADS=" + threads, "OPENBLAS_NUM_THREADS=" + threads,
                                        "MKL_NUM_THREADS=" + threads, "PYTHONHASHSEED=0", "PYTHONUNBUFFERED=1"};
  std::vector<std::string> all = set;
  for (char** at = environ; *at != nullptr; ++at) {
    const std::string_view entry = *at;
    const bool is_set = std::any_of(set.begin(), set.end(), [&](const std::string& s) {
      return entry.starts_with(std::string_view(s).substr(0, s.find('=') + 1));
    });
    if (!is_set) all.emplace_back(entry);
  }
  return all;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

void FailWith(const std::string& what) {
  throw bp::Error(errno == ENOMEM ? BP_E_OOM_HOST : BP_E_IO, what + ": " + std::strerror(errno));
}

File Checked(int fd, const char* what) {
  if (fd < 0) FailWith(what);
  File low(fd);
  const int high = fcntl(fd, F_DUPFD_CLOEXEC, kFirstFree);
  if (high < 0) FailWith(what);
  return File(high);
}

std::array<File, 2> Pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) FailWith("pipe for a worker");
  File read(ends[0]), write(ends[1]);
  return {Checked(dup(ends[0]), "pipe for a worker"), Checked(dup(ends[1]), "pipe for a worker")};
}

std::array<File, 2> SocketPair() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) FailWith("socket for a worker");
  File ours(ends[0]), theirs(ends[1]);
  return {Checked(dup(ends[0]), "socket for a worker"), Checked(dup(ends[1]), "socket for a worker")};
}

SpawnSetup::SpawnSetup() {
  posix_spawn_file_actions_init(&actions_);
  posix_spawnattr_init(&attributes_);
  // The host's threads block signals, and its handlers are not the workers'.
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes_, &none);
  posix_spawnattr_setsigdefault(&attributes_, &all);
  posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

SpawnSetup::~SpawnSetup() {
  posix_spawn_file_actions_destroy(&actions_);
  posix_spawnattr_destroy(&attributes_);
}

void SpawnSetup::GiveNothing(int as) { posix_spawn_file_actions_addopen(&actions_, as, "/dev/null", O_RDONLY, 0); }

pid_t SpawnSetup::Spawn(std::vector<std::string> arguments, uint64_t threads) {
  std::vector<std::string> environment = WorkerEnvironment(std::to_string(threads));
  pid_t pid = -1;
  const int error = posix_spawnp(&pid, arguments[0].c_str(), &actions_, &attributes_, Pointers(arguments).data(),
                                 Pointers(environment).data());
  if (error == ENOMEM) throw bp::Error(BP_E_OOM_HOST, std::string("cannot start a Python process: ") + std::strerror(error));
  if (error != 0)
    throw bp::ConfigError("python: cannot start '" + arguments[0] + "': " + std::strerror(error) +
                          "; set an interpreter with the packages that the code imports");
  return pid;
}

File SourceFile(std::string_view text) {
  File file = Checked(memfd_create("worker.py", MFD_CLOEXEC), "the workers' program");
  if (write(file.fd(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) FailWith("the workers' program");
  return file;
}

}  // namespace backplane::python_env
