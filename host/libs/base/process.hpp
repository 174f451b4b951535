// Which process wrote something: a pid alone is soon given to another one.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace backplane {

struct ProcessId {
  pid_t pid = 0;
  uint64_t pid_start = 0;  // field 22 of /proc/PID/stat: clock ticks from the start of the machine to that of the process
  std::string boot_id, hostname;

  static constexpr void Fields(auto& self, auto&& visit) {  // record/fields.hpp
    visit("pid", self.pid);
    visit("pid_start", self.pid_start);
    visit("boot_id", self.boot_id);
    visit("hostname", self.hostname);
  }
};

std::string BootId();                             // changes with every start of the machine; empty if the kernel does not tell
std::optional<uint64_t> ProcessStart(pid_t pid);  // absent: no such process
ProcessId ThisProcess();

// False if this machine has been started anew since. A process of another machine counts as alive: nobody here can know. Where
// one holds a lock, ask the lock as well.
bool IsAlive(const ProcessId& process);

}  // namespace backplane
