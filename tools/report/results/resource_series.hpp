// Resource samples of a trial: resources.csv with any columns.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/number.hpp"

namespace backplane {

// Number::of of a column: shows if the first iteration was excluded.
inline constexpr char kSamples[] = "samples";
inline constexpr char kSamplesWithWarmUp[] = "samples, warm-up included";

// Mean, sd, p95 and max per column over the samples after the first iteration. Uses all samples if there are no later ones or
// the file does not mark them. Means and sd weight a sample by the seconds since the previous one. run_queue_wait_pct is a
// share of CPU time, so the CPU time in those seconds weights it. They have no interval. Columns without a finite number and
// the time columns are omitted. A missing file has no columns.
std::map<std::string, Number> ReadResourceSeries(const std::filesystem::path& file);

// Lines of the file.
class ResourceRows {
 public:
  using Row = std::vector<std::optional<double>>;  // as wide as the head
  // Absent for the head and for incomplete lines.
  std::optional<Row> Next(std::string_view line);
  const std::vector<std::string>& columns() const { return columns_; }

 private:
  std::vector<std::string> columns_;
};

// The samples with a value per column, including the warm-up.
struct ResourceSample {
  double time_s = 0, value = 0;  // time since the trial's loop began
};
std::map<std::string, std::vector<ResourceSample>> ReadResourceSamples(const std::filesystem::path& file);

}  // namespace backplane
