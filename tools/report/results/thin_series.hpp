// Thins a growing line to the points that a page shows.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace backplane {

// Keeps the extremes of equal parts of the line, and its first and last point. Uses bounded memory.
class ThinSeries {
 public:
  struct Point {
    double x = 0, value = 0;
    bool operator==(const Point&) const = default;
  };
  static constexpr size_t kMost = 200;  // points

  // An x at or before a known one continues the line from there: the trial resumed from a checkpoint. Ignores non-finite
  // values.
  void Add(double x, double value);
  std::vector<Point> Points() const;
  bool empty() const { return !first_; }
  const std::optional<Point>& last() const { return last_; }

 private:
  struct Part {
    Point least, most;
  };
  void CutFrom(double x);
  void Merge();

  std::vector<Part> parts_;
  size_t width_ = 1, in_last_ = 0;  // points of a full part, and of the last one
  std::optional<Point> first_, last_;
};

}  // namespace backplane
