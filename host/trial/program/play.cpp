#include "program/play.hpp"

#include <unistd.h>

#include <cstdio>
#include <stdexcept>

#include "contract/trial_spec.hpp"
#include "log/log.hpp"
#include "trial/run_worker.hpp"

namespace backplane {

void Play(const std::vector<std::string>& arguments) {
  int code = kExitUsage;
  try {
    code = RunWorker(WorkerOrderFromArguments(arguments));
  } catch (const std::runtime_error& e) {
    LogError("{}", e.what());
  }
  std::fflush(nullptr);
  _exit(code);  // plugins are never unloaded
}

}  // namespace backplane
