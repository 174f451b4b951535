// What a command and all that it started take from the machine, looked at now and then: resources.csv, as the monitor of that
// name writes it, and whether any of them computes.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <optional>

#include "base/line_file.hpp"
#include "machine/process_usage.hpp"

namespace backplane {

class TreeUse {
 public:
  // Of this process and all below it; `csv`: the file.
  explicit TreeUse(std::filesystem::path csv) : csv_(std::move(csv)) {}

  // At this second of the attempt. True: processes below this one have computed since the last time it was so.
  bool Look(double attempt_s, uint64_t reports);

 private:
  void Write(double attempt_s, uint64_t reports, const TreeUsage& now);

  const std::filesystem::path csv_;
  TreeReader tree_{getpid()};
  std::optional<LineFile> file_;
  bool unwritable_ = false;
  double others_cpu_s_ = 0, seen_cpu_s_ = 0, rss_peak_mb_ = 0;
  double written_cpu_s_ = 0, written_s_ = 0;  // of the last row
};

}  // namespace backplane
