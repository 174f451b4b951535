// The rows of a trial, few enough to stay in memory however long it runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "columns.hpp"

namespace backplane::resources {

class Series {
 public:
  explicit Series(size_t max_rows) : max_rows_(max_rows) {}

  // False if so soon after the last row that the counters' resolution (10 ms) would be visible, or that there would be too many
  // rows. The first row is always due: the shortest trial has one.
  bool IsDue(double time_s) const { return rows_.empty() || time_s - last_s_ >= shortest_s_; }

  // When full, drops every second row and halves the rate of later ones.
  void Add(const Row& row);

  // The whole file by rename, so that it is complete at any time. Throws bp::Error.
  void Write(const std::string& path) const;

 private:
  size_t max_rows_;
  double last_s_ = 0, shortest_s_ = 0.1;
  std::vector<Row> rows_;
};

}  // namespace backplane::resources
