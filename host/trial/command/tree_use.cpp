#include "command/tree_use.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "log/log.hpp"
#include "machine/resource_measures.hpp"
#include "rollout/clocks.hpp"

namespace backplane {
namespace {

using namespace resource_measure;

constexpr double kSignOfLife_s = 0.02;  // a process that waits for its end wakes now and then, and takes less
// Rows come at longer distances the longer the attempt lasts: 1,000 of them double its time.
constexpr double kRowShare = 1e-3, kShortestRow_s = 0.9;

}  // namespace

bool TreeUse::Look(double attempt_s, uint64_t reports) {
  const TreeUsage now = tree_.Read();
  rss_peak_mb_ = std::max(rss_peak_mb_, now.rss_peak_mb);
  // A process missed between its end and its parent's wait is counted in the next sample.
  others_cpu_s_ = std::max(others_cpu_s_, now.cpu_s - static_cast<double>(ReadClock(CLOCK_PROCESS_CPUTIME_ID)) * 1e-9);
  if (!file_ || attempt_s - written_s_ >= std::max(kShortestRow_s, kRowShare * attempt_s)) Write(attempt_s, reports, now);
  if (others_cpu_s_ - seen_cpu_s_ < kSignOfLife_s) return false;
  seen_cpu_s_ = others_cpu_s_;
  return true;
}

// A full disk only loses these rows.
void TreeUse::Write(double attempt_s, uint64_t reports, const TreeUsage& now) try {
  if (unwritable_) return;
  if (!file_) {
    file_.emplace(csv_);
    file_->Append(fmt::format("time_s,iteration,{},{},{},{},{}\n", ColumnOf(kCpuCoresUsed), ColumnOf(kRssMb),
                              ColumnOf(kRssPeakMb), ColumnOf(kProcesses), ColumnOf(kThreads)));
  }
  const double seconds = attempt_s - written_s_;
  file_->Append(fmt::format("{:.3f},{},{:.4f},{:.2f},{:.2f},{},{}\n", attempt_s, reports,
                            seconds > 0 ? std::max(0.0, now.cpu_s - written_cpu_s_) / seconds : 0.0, now.rss_mb, rss_peak_mb_,
                            now.processes, now.threads));
  written_s_ = attempt_s;
  written_cpu_s_ = now.cpu_s;
} catch (const std::runtime_error& e) {
  unwritable_ = true;
  LogWarning("warning: {}", e.what());
}

}  // namespace backplane
