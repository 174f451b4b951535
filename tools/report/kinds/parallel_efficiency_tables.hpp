// The tables of the parallel-efficiency report.
#pragma once

#include <string>
#include <vector>

#include "render/document.hpp"
#include "results/parallel_efficiency.hpp"

namespace backplane {

class ParallelEfficiencyTables {
 public:
  // Both outlive the object.
  ParallelEfficiencyTables(const Combined& combined, const ParallelEfficiency& analysis);

  Table Results() const;      // "results"
  Table Recommended() const;  // "recommended"
  Table Resources() const;    // "resources"

 private:
  std::vector<Column> ResultColumns() const;
  std::vector<Cell> ResultRow(const Setting& setting) const;
  Cell RatioCell(const Setting& setting, const std::optional<double>& ratio) const;
  Cell PeakCell(const Setting& setting, const char* measure) const;
  std::string Ids(const Setting& setting) const;
  std::string State(const Setting& setting) const;
  std::string Remark(const Setting& setting) const;
  bool SeveralSeries() const { return analysis_.series.size() > 1; }
  const Setting* Of(const std::optional<size_t>& index) const { return index ? &analysis_.settings[*index] : nullptr; }

  const Combined& combined_;
  const ParallelEfficiency& analysis_;
};

}  // namespace backplane
