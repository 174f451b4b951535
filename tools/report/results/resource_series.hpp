// The samples of one trial's use of the machine: resources.csv, whatever columns it has.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/number.hpp"

namespace backplane {

// Number::of of a column: whether the first iteration could be left out.
inline constexpr char kSamples[] = "samples";
inline constexpr char kSamplesWithWarmUp[] = "samples, warm-up included";

// Mean, sd, p95 and max of each column over the samples after the first iteration, over all where there are no later ones or
// the file does not say. Means and sd weigh a sample by the seconds since the one before; run_queue_wait_pct, a share of CPU
// time, by the CPU time in them. They have no interval. A column without a finite number is left out; so are the columns that
// say when a sample was taken. An absent file has no columns.
std::map<std::string, Number> ReadResourceSeries(const std::filesystem::path& file);

// Its lines, one by one.
class ResourceRows {
 public:
  using Row = std::vector<std::optional<double>>;  // as wide as the head
  // Absent: the head, or a line of another width, which was not written whole.
  std::optional<Row> Next(std::string_view line);
  const std::vector<std::string>& columns() const { return columns_; }

 private:
  std::vector<std::string> columns_;
};

// The samples themselves, the warm-up included: of each column those that have a value.
struct ResourceSample {
  double time_s = 0, value = 0;  // time since the trial's loop began
};
std::map<std::string, std::vector<ResourceSample>> ReadResourceSamples(const std::filesystem::path& file);

}  // namespace backplane
