// Samples what the trial's processes take from the machine: CPU, memory, waiting for a CPU.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <vector>

#include "backplane/monitor.hpp"
#include "proc.hpp"

namespace backplane::resources {

class Resources : public bp::MonitorPlugin<Resources> {
 public:
  static constexpr bp::About kAbout{.id = "monitor.resources", .version = "1.0.0", .summary = "CPU and memory of the trial"};
  static constexpr bp_param kOptions[] = {
      bp::I64("max_rows", "36000", "[2,)", "Rows kept in memory; when full every second goes and sampling halves",
              {.flags = 0}),
  };

  explicit Resources(const bp::MonitorSetup& setup)
      : MonitorPlugin(setup), max_rows_(static_cast<size_t>(setup.config.I64("max_rows"))), metrics_(setup.host) {}

  void Sample(int64_t t_ns) override {
    if (skipped_++ % stride_ != 0) return;
    const TreeUsage now = ReadTree(getpid());
    if (last_ns_ != 0 && t_ns > last_ns_) Add(t_ns, now);
    if (start_ns_ == 0) start_ns_ = t_ns;
    last_ns_ = t_ns, last_ = now;
  }

  // Whole file by rename, so that it is complete at any time; calling it again writes what came since.
  void Finish(const std::string& out_dir) override {
    const std::string path = out_dir + "/resources.csv", temporary = path + ".tmp";
    std::FILE* file = std::fopen(temporary.c_str(), "w");
    if (!file) throw bp::Error(BP_E_IO, "cannot write " + temporary);
    std::fputs("time_s,cpu_cores_used,cpu_quota_pct,rss_mb,rss_peak_mb,run_queue_wait_pct,processes\n", file);
    for (const Row& r : rows_) {
      std::fprintf(file, "%.3f,%.4f,%.2f,%.2f,%.2f,%.3f,%d\n", r.time_s, r.cores, r.quota_pct, r.rss_mb, r.rss_peak_mb,
                   r.wait_pct, r.processes);
    }
    const bool failed = std::ferror(file) != 0;
    if (std::fclose(file) != 0 || failed) throw bp::Error(BP_E_IO, "cannot write " + temporary);
    std::filesystem::rename(temporary, path);
  }

 private:
  struct Row {
    double time_s, cores, quota_pct, rss_mb, rss_peak_mb, wait_pct;
    int processes;
  };

  void Add(int64_t t_ns, const TreeUsage& now) {
    const double wall_s = static_cast<double>(t_ns - last_ns_) * 1e-9;
    // Sums fall when a process or thread ends between samples: not a negative use.
    const double cores = std::max(0.0, now.cpu_s - last_.cpu_s) / wall_s;
    const double wait = std::max(0.0, now.run_queue_wait_s - last_.run_queue_wait_s) / wall_s;
    const Row row{static_cast<double>(t_ns - start_ns_) * 1e-9,
                  cores,
                  100 * cores / EffectiveCpus(),
                  now.rss_mb,
                  now.rss_peak_mb,
                  100 * wait,
                  static_cast<int>(now.processes)};
    rows_.push_back(row);
    metrics_.Record("resources/cpu_cores_used", row.cores, "cores", 0, "CPU time over wall time, all processes of the trial");
    metrics_.Record("resources/cpu_quota_pct", row.quota_pct, "%", 0, "of the CPUs granted by affinity and cgroup");
    metrics_.Record("resources/rss_mb", row.rss_mb, "MiB", -1, "resident memory");
    metrics_.Record("resources/rss_peak_mb", row.rss_peak_mb, "MiB", -1, "largest resident memory so far");
    metrics_.Record("resources/run_queue_wait_pct", row.wait_pct, "%", -1,
                    "time threads were ready but had no CPU, over wall time");
    if (rows_.size() >= max_rows_) Thin();
  }

  void Thin() {
    size_t kept = 0;
    for (size_t i = 0; i < rows_.size(); i += 2) rows_[kept++] = rows_[i];
    rows_.resize(kept);
    stride_ *= 2, skipped_ = 1;
  }

  size_t max_rows_;
  uint64_t stride_ = 1, skipped_ = 0;
  int64_t start_ns_ = 0, last_ns_ = 0;
  TreeUsage last_;
  std::vector<Row> rows_;
  bp::Metrics metrics_;
};

}  // namespace backplane::resources

using backplane::resources::Resources;
BP_PLUGINS(Resources);
