// Samples the resource use of a command's process tree: writes resources.csv, and detects whether any process computes.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <optional>

#include "base/line_file.hpp"
#include "machine/process_usage.hpp"

namespace backplane {

class TreeUse {
 public:
  // Covers this process and all its descendants. `csv`: the file.
  explicit TreeUse(std::filesystem::path csv) : csv_(std::move(csv)) {}

  // Takes a sample at this second of the attempt. True: descendants have used CPU time since it last returned true.
  bool Look(double attempt_s, uint64_t reports);

 private:
  void Write(double attempt_s, uint64_t reports, const TreeUsage& now);

  const std::filesystem::path csv_;
  TreeReader tree_{getpid()};
  std::optional<LineFile> file_;
  bool unwritable_ = false;
  double others_cpu_s_ = 0, seen_cpu_s_ = 0, rss_peak_mb_ = 0;
  double written_cpu_s_ = 0, written_s_ = 0;  // at the last row
};

}  // namespace backplane
