#include "supervise/end_children.hpp"

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>

namespace backplane {
namespace {

constexpr char kKeeperName[] = "backplane-keepe";  // the kernel keeps 15 bytes of a name
constexpr size_t kBlock = 4096, kLongestNumber = 24;

char children_file[64];

// "/proc/NUMBER/comm"
void PathOfName(pid_t pid, char* path) {
  char digits[kLongestNumber];
  size_t n = 0;
  for (; pid > 0; pid /= 10) digits[n++] = static_cast<char>('0' + pid % 10);
  std::memcpy(path, "/proc/", 6);
  path += 6;
  while (n > 0) *path++ = digits[--n];
  std::memcpy(path, "/comm", 6);
}

bool IsKeeperProcess(pid_t pid) {
  char path[64], name[sizeof kKeeperName] = {};
  PathOfName(pid, path);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const ssize_t n = read(fd, name, sizeof name - 1);
  close(fd);
  return n == sizeof name - 1 && std::memcmp(name, kKeeperName, sizeof name - 1) == 0;
}

void EndChild(pid_t pid) {
  kill(pid, IsKeeperProcess(pid) ? SIGQUIT : SIGKILL);
  kill(pid, SIGCONT);  // a stopped keeper handles no signal
}

}  // namespace

void FindChildren() { std::snprintf(children_file, sizeof children_file, "/proc/%d/task/%d/children", getpid(), gettid()); }

void EndChildren() {
  const int fd = open(children_file, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;  // this kernel does not list them; our death sends them SIGTERM
  char block[kBlock];
  pid_t pid = 0;
  for (ssize_t n = 0; (n = read(fd, block, sizeof block)) > 0;) {
    for (ssize_t i = 0; i < n; ++i) {
      if (block[i] >= '0' && block[i] <= '9') {
        pid = pid * 10 + (block[i] - '0');
        continue;
      }
      if (pid > 0) EndChild(pid);
      pid = 0;
    }
  }
  close(fd);
}

}  // namespace backplane
