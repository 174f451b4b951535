#include "base/process.hpp"

#include <unistd.h>

#include <climits>
#include <sstream>

#include "base/files.hpp"

namespace backplane {
namespace {

std::string HostName() {
  char name[HOST_NAME_MAX + 1] = {};
  return gethostname(name, HOST_NAME_MAX) == 0 ? name : "";
}

}  // namespace

std::string BootId() {
  const std::string text = ReadFile("/proc/sys/kernel/random/boot_id").value_or("");
  return text.substr(0, text.find('\n'));
}

std::optional<uint64_t> ProcessStart(pid_t pid) {
  const std::string stat = ReadFile("/proc/" + std::to_string(pid) + "/stat").value_or("");
  // The second field is the program's name in brackets, which may contain spaces and brackets.
  const size_t bracket = stat.rfind(')');
  if (bracket == std::string::npos) {
    return std::nullopt;
  }
  std::istringstream fields(stat.substr(bracket + 1));
  std::string state, field;
  fields >> state;
  if (state == "Z" || state == "X") {
    return std::nullopt;  // it has ended; only its parent has not asked yet
  }
  constexpr int kFieldsBetween = 18;  // fields 4 to 21
  for (int i = 0; i < kFieldsBetween; ++i) {
    fields >> field;
  }
  uint64_t start = 0;
  return fields >> start ? std::optional(start) : std::nullopt;
}

ProcessId ThisProcess() { return {getpid(), ProcessStart(getpid()).value_or(0), BootId(), HostName()}; }

bool IsAlive(const ProcessId& process) {
  if (process.hostname != HostName()) {
    return true;
  }
  return process.boot_id == BootId() && ProcessStart(process.pid) == process.pid_start;
}

}  // namespace backplane
