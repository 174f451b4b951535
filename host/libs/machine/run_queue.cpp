#include "machine/run_queue.hpp"

#include <sstream>

#include "machine/kernel_file.hpp"

namespace backplane {

// A process's own schedstat shows its first thread only.
std::optional<int64_t> RunQueueWaitNs(pid_t thread, const std::filesystem::path& process) {
  std::istringstream text(ReadKernelFile(process / "task" / std::to_string(thread) / "schedstat").value_or(""));
  int64_t run_ns = 0, wait_ns = 0;
  return text >> run_ns >> wait_ns ? std::optional(wait_ns) : std::nullopt;
}

}  // namespace backplane
