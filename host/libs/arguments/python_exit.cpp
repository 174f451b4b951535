#include "arguments/python_exit.hpp"

#include "arguments/command.hpp"
#include "log/log.hpp"

namespace backplane {

int ExitOfPython(const std::string& command, const ProcessCall& call, const ProcessEnd& end) {
  if (end.started) return end.ok() ? kOk : end.code != 0 ? end.code : kFailed;
  LogError("backplane {}: cannot start {}: {}\nhint: set BACKPLANE_PYTHON to a Python 3.10 or newer", command,
           call.words.front(), end.err);
  return kFailed;
}

}  // namespace backplane
