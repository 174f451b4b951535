#include "results/thin_series.hpp"

#include <algorithm>
#include <cmath>

namespace backplane {

void ThinSeries::Add(double x, double value) {
  if (!std::isfinite(x) || !std::isfinite(value)) return;
  if (last_ && x <= last_->x) CutFrom(x);
  const Point point{x, value};
  if (!first_) first_ = point;
  last_ = point;
  const auto is_full = [&] { return parts_.empty() || in_last_ == width_; };
  // A part with one point is drawn once, with more points twice. The first and last points have reserved room.
  while (is_full() && parts_.size() * std::min<size_t>(width_, 2) >= kMost - 2) Merge();
  if (is_full()) {
    parts_.push_back({point, point});
    in_last_ = 1;
    return;
  }
  Part& part = parts_.back();
  if (point.value < part.least.value) part.least = point;
  if (point.value > part.most.value) part.most = point;
  ++in_last_;
}

void ThinSeries::CutFrom(double x) {
  std::erase_if(parts_, [&](const Part& part) { return std::max(part.least.x, part.most.x) >= x; });
  in_last_ = width_;
  first_ = parts_.empty() || first_->x >= x ? std::nullopt : first_;
}

void ThinSeries::Merge() {
  const bool odd = parts_.size() % 2 == 1;
  for (size_t i = 0; i + 1 < parts_.size(); i += 2) {
    const Part &a = parts_[i], &b = parts_[i + 1];
    parts_[i / 2] = {a.least.value <= b.least.value ? a.least : b.least, a.most.value >= b.most.value ? a.most : b.most};
  }
  if (odd) parts_[parts_.size() / 2] = parts_.back();
  parts_.resize((parts_.size() + 1) / 2);
  if (!odd) in_last_ += width_;
  width_ *= 2;
}

std::vector<ThinSeries::Point> ThinSeries::Points() const {
  std::vector<Point> points;
  const auto add = [&](const Point& point) {
    if (points.empty() || points.back().x < point.x) points.push_back(point);
  };
  if (first_) add(*first_);
  for (const Part& part : parts_) {
    add(part.least.x < part.most.x ? part.least : part.most);
    add(part.least.x < part.most.x ? part.most : part.least);
  }
  if (last_) add(*last_);
  return points;
}

}  // namespace backplane
