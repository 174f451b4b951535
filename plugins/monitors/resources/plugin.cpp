// Samples the trial's use of the machine: CPUs, memory, stalls, GPUs.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>

#include "backplane/monitor.hpp"
#include "sampler.hpp"
#include "series.hpp"

namespace backplane::resources {

class Resources : public bp::MonitorPlugin<Resources> {
 public:
  static constexpr bp::About kAbout{
      .id = "monitor.resources", .version = "2.0.0", .summary = "CPU, memory, pressure and GPUs of the trial"};
  struct Options {
    size_t max_rows = 36000;
  };
  static constexpr bp::OptionTable kOptions{
      bp::Opt("max_rows", &Options::max_rows, "[2,)",
              "Rows kept in memory; if full, every second row is dropped and sampling slows to half"),
  };

  explicit Resources(const bp::MonitorSetup& setup)
      : MonitorPlugin(setup), sampler_(ThisProcess()), series_(kOptions.Read(setup.config).max_rows), metrics_(setup.host) {
    for (const Column& column : kColumns) metrics_.Declare({column.metric, column.unit, column.direction, column.doc});
    sampler_.Read(start_ns_);
  }

  bp::IterationParts Wants() const override { return {.metrics = false}; }

  // The sample at the end of an iteration belongs to that iteration, so `iterations_` is increased afterwards. A warm-up
  // iteration has the number 0 but has ended too.
  void OnIteration(const bp::Iteration& iteration) override {
    Sample(Now_ns());
    iterations_ = std::max<uint64_t>(iteration.number, iterations_ + 1);
  }

  void Sample(int64_t t_ns) override {
    const double time_s = static_cast<double>(t_ns - start_ns_) * 1e-9;
    if (!series_.IsDue(time_s)) return;
    const Row row{time_s, iterations_, sampler_.Read(t_ns)};
    series_.Add(row);
    for (size_t i = 0; i < kColumnCount; ++i) {
      if (!std::isnan(row.values[i])) metrics_.Record(kColumns[i].metric, row.values[i]);
    }
  }

  void Finish(const std::string& out_dir) override { series_.Write(out_dir + "/resources.csv"); }

 private:
  static int64_t Now_ns() { return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1); }
  static Source ThisProcess() {
    const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
    return {.root = getpid(), .visible_gpus = visible ? std::optional<std::string>(visible) : std::nullopt};
  }

  Sampler sampler_;
  Series series_;
  int64_t start_ns_ = Now_ns();
  unsigned long iterations_ = 0;
  bp::Metrics metrics_;
};

}  // namespace backplane::resources

using backplane::resources::Resources;
BP_PLUGINS(Resources);
