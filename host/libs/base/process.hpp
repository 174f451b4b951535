// Identifies a process beyond its lifetime, because the system reuses pids.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace backplane {

struct ProcessId {
  pid_t pid = 0;
  uint64_t pid_start = 0;  // field 22 of /proc/PID/stat: clock ticks from boot to the start of the process
  std::string boot_id, hostname;

  static constexpr void Fields(auto& self, auto&& visit) {  // record/fields.hpp
    visit("pid", self.pid);
    visit("pid_start", self.pid_start);
    visit("boot_id", self.boot_id);
    visit("hostname", self.hostname);
  }
};

std::string BootId();                             // changes with every boot; empty if the kernel does not report it
std::optional<uint64_t> ProcessStart(pid_t pid);  // absent: no such process
ProcessId ThisProcess();

// False if this machine has rebooted since. A process of another machine counts as alive, because its state is unknown here. If
// the process holds a lock, check that too.
bool IsAlive(const ProcessId& process);

}  // namespace backplane
