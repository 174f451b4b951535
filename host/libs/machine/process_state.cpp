#include "machine/process_state.hpp"

#include <charconv>

#include "machine/kernel_file.hpp"

namespace backplane {

std::optional<ProcessState> ParseProcessState(std::string_view text) {
  // The name may hold spaces and brackets, so it ends at the last one.
  const size_t open = text.find('('), close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open || close + 2 >= text.size())
    return std::nullopt;
  ProcessState state;
  if (std::from_chars(text.data(), text.data() + open, state.pid).ec != std::errc()) return std::nullopt;
  state.name = text.substr(open + 1, close - open - 1);
  state.letter = text[close + 2];
  return state;
}

std::optional<ProcessState> StateOf(pid_t pid, const std::filesystem::path& proc) {
  return ParseProcessState(ReadKernelFile(proc / std::to_string(pid) / "stat").value_or(""));
}

}  // namespace backplane
