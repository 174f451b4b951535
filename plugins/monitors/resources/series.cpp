#include "series.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "backplane/monitor.hpp"

namespace backplane::resources {

void Series::Add(const Row& row) {
  rows_.push_back(row);
  last_s_ = row.time_s;
  if (rows_.size() < max_rows_) return;
  // One and a half times the mean distance: samples at a steady rate are then kept every second time.
  shortest_s_ = std::max(shortest_s_, 1.5 * row.time_s / static_cast<double>(rows_.size()));
  size_t kept = 0;
  for (size_t i = 0; i < rows_.size(); i += 2) rows_[kept++] = rows_[i];
  rows_.resize(kept);
}

void Series::Write(const std::string& path) const {
  const std::string temporary = path + ".tmp";
  std::FILE* file = std::fopen(temporary.c_str(), "w");
  if (!file) throw bp::Error(BP_E_IO, "cannot write " + temporary);
  std::fputs("time_s,iteration", file);
  for (const Column& column : kColumns) std::fprintf(file, ",%s", resource_measure::ColumnOf(column.metric));
  std::fputc('\n', file);
  for (const Row& row : rows_) {
    std::fprintf(file, "%.3f,%lu", row.time_s, row.iteration);
    for (size_t i = 0; i < kColumnCount; ++i) {
      std::fputc(',', file);
      if (!std::isnan(row.values[i])) std::fprintf(file, "%.*f", kColumns[i].decimals, row.values[i]);
    }
    std::fputc('\n', file);
  }
  const bool failed = std::ferror(file) != 0;
  if (std::fclose(file) != 0 || failed) throw bp::Error(BP_E_IO, "cannot write " + temporary);
  std::filesystem::rename(temporary, path);
}

}  // namespace backplane::resources
