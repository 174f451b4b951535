#include "shim.hpp"

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/files.hpp"
#include "batch/local_engine.hpp"
#include "machine/process_tree.hpp"
#include "measure.hpp"

namespace backplane::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kTick_ms = 1000;
constexpr int kManyTrials = 64;
constexpr auto kWatchedFor = std::chrono::seconds(5);
constexpr uint64_t kMemoryLimit = 1ull << 30;  // far above a sleeping trial's use, so the watcher polls at its slow rate

double MsSince(Clock::time_point start) { return std::chrono::duration<double, std::milli>(Clock::now() - start).count(); }

TrialCommand Run(const char* program, std::vector<std::string> arguments) {
  TrialCommand command;
  command.child.program = program;
  command.child.arguments = std::move(arguments);
  return command;
}

void AwaitEnd(Engine* engine) {
  while (engine->Wait(kTick_ms).empty()) {
  }
}

struct Processes {
  pid_t shim = 0, trial = 0;
};

// Waits until that many shims of this process have their trial.
std::vector<Processes> AwaitTrials(size_t count) {
  for (;;) {
    std::vector<Processes> found;
    for (const pid_t shim : ChildrenOf(getpid())) {
      const std::vector<pid_t> trials = ChildrenOf(shim);
      if (!trials.empty()) found.push_back({shim, trials.front()});
    }
    if (found.size() >= count) return found;
    std::this_thread::yield();
  }
}

uint64_t MapsField(pid_t pid, const std::string& wanted) {
  std::istringstream fields(ReadFile("/proc/" + std::to_string(pid) + "/smaps_rollup").value_or(""));
  std::string line;
  while (std::getline(fields, line)) {
    if (line.starts_with(wanted + ":")) {
      return std::stoull(line.substr(wanted.size() + 1)) * 1024;
    }
  }
  return 0;
}

double CpuSeconds(pid_t pid) {
  double ns = 0;
  std::ifstream("/proc/" + std::to_string(pid) + "/schedstat") >> ns;
  return ns * 1e-9;
}

double AloneMs() {
  const auto start = Clock::now();
  Child child(Run("/bin/true", {}).child);
  while (!child.Wait(kTick_ms)) {
  }
  return MsSince(start);
}

double KeptMs(LocalEngine* engine) {
  const auto start = Clock::now();
  engine->Start(Run("/bin/true", {}));
  AwaitEnd(engine);
  return MsSince(start);
}

double ExitToWaitMs(LocalEngine* engine) {
  engine->Start(Run("/bin/sleep", {"1000"}));
  const Processes processes = AwaitTrials(1).front();
  const auto start = Clock::now();
  kill(processes.trial, SIGKILL);
  AwaitEnd(engine);
  return MsSince(start);
}

nlohmann::json ManySleeping(const std::filesystem::path& backplane) {
  LocalEngine engine(backplane);
  TrialCommand command = Run("/bin/sleep", {"1000"});
  command.allocation.memory_bytes = kMemoryLimit;
  for (int i = 0; i < kManyTrials; ++i) engine.Start(command);
  std::vector<pid_t> shims;
  for (const Processes& one : AwaitTrials(kManyTrials)) shims.push_back(one.shim);
  const auto cpu = [&] {
    double seconds = 0;
    for (const pid_t shim : shims) {
      seconds += CpuSeconds(shim);
    }
    return seconds;
  };
  uint64_t rss = 0, own = 0;
  for (const pid_t shim : shims) {
    rss += MapsField(shim, "Rss");
    own += MapsField(shim, "Private_Dirty") + MapsField(shim, "Private_Clean");
  }
  const auto start = Clock::now();
  const double before = cpu();
  std::this_thread::sleep_for(kWatchedFor);
  const double share = (cpu() - before) / (MsSince(start) * 1e-3);
  return {{"shims", kManyTrials},
          {"rss_each", rss / kManyTrials},
          {"private_each", own / kManyTrials},
          {"cores_used_by_all_watchers", share}};
}

}  // namespace

nlohmann::json MeasureShim(const std::filesystem::path& backplane, uint64_t pairs) {
  LocalEngine engine(backplane);
  std::vector<double> alone, kept, more, delay;
  for (uint64_t i = 0; i < pairs; ++i) {
    alone.push_back(AloneMs());
    kept.push_back(KeptMs(&engine));
    more.push_back(kept.back() - alone.back());
    delay.push_back(ExitToWaitMs(&engine));
  }
  return {{"child_alone_ms", Spread(alone)},
          {"with_shim_ms", Spread(kept)},
          {"shim_adds_ms", Spread(more)},
          {"exit_to_wait_ms", Spread(delay)},
          {"many", ManySleeping(backplane)}};
}

}  // namespace backplane::bench
