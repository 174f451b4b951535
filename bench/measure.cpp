#include "measure.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <thread>

#include "rollout/clocks.hpp"
#include "support/allocations.hpp"

namespace backplane::bench {
namespace {

// CPU seconds that the whole machine was not idle.
double MachineBusySeconds() {
  std::ifstream stat("/proc/stat");
  std::string name;
  double user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0;
  stat >> name >> user >> nice >> system >> idle >> iowait >> irq >> softirq >> steal;
  return (user + nice + system + irq + softirq + steal) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace

extern "C" [[gnu::noinline]] void backplane_bench_measured(const std::function<void()>& work) {
  work();
  asm volatile("" ::: "memory");  // no tail call: instruction counters need this function's exit
}

Cost Measure(const std::function<void()>& work) {
  const double busy = MachineBusySeconds();
  const int64_t cpu = ReadClock(CLOCK_PROCESS_CPUTIME_ID), wall = NowNs();
  const uint64_t allocations = Allocations();
  backplane_bench_measured(work);
  Cost cost;
  cost.allocations = Allocations() - allocations;
  cost.wall_s = static_cast<double>(NowNs() - wall) * 1e-9;
  cost.cpu_s = static_cast<double>(ReadClock(CLOCK_PROCESS_CPUTIME_ID) - cpu) * 1e-9;
  const double cores = std::max(1u, std::thread::hardware_concurrency());
  cost.others = std::max(0.0, (MachineBusySeconds() - busy - cost.cpu_s) / (cost.wall_s * cores));
  return cost;
}

nlohmann::json Spread(std::vector<double> values) {
  if (values.empty()) return nullptr;
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  const double median = n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
  return {{"median", median}, {"min", values.front()}, {"max", values.back()}, {"n", n}};
}

}  // namespace backplane::bench
