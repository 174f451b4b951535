#include "batch/memory_frontier.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace backplane {
namespace {

// The point's coordinates on the memory axes; empty unless all of them are numbers. `rest` receives the other values as text.
std::vector<double> Coordinates(const PlannedPoint& point, const std::vector<std::string>& memory_axes, std::string* rest) {
  std::vector<double> at(memory_axes.size());
  size_t found = 0;
  nlohmann::json others = nlohmann::json::object();
  others["stages"] = point.stage;  // no path has this name
  for (const auto& [path, value] : point.values) {
    const auto axis = std::find(memory_axes.begin(), memory_axes.end(), path);
    if (axis == memory_axes.end()) {
      others[path] = value;
    } else if (value.is_number()) {
      at[static_cast<size_t>(axis - memory_axes.begin())] = value.get<double>();
      ++found;
    }
  }
  *rest = others.dump();
  return found == memory_axes.size() ? at : std::vector<double>();
}

// Larger on some axis and smaller on none.
bool Larger(const std::vector<double>& p, const std::vector<double>& q) {
  for (size_t i = 0; i < p.size(); ++i) {
    if (p[i] < q[i]) return false;
  }
  return p != q;
}

double Sum(const std::vector<double>& at) { return std::accumulate(at.begin(), at.end(), 0.0); }

}  // namespace

MemoryFrontier::MemoryFrontier(const Plan& plan)
    : axes_(plan.points.size()), alike_(plan.points.size(), nullptr), below_(plan.points.size()) {
  if (plan.memory_axes.empty()) return;
  for (size_t i = 0; i < plan.points.size(); ++i) {
    std::string rest;
    axes_[i] = Coordinates(plan.points[i], plan.memory_axes, &rest);
    if (axes_[i].empty()) continue;
    std::vector<size_t>& group = groups_[rest];
    group.push_back(i);
    alike_[i] = &group;
  }
  for (auto& [rest, group] : groups_) {
    std::stable_sort(group.begin(), group.end(), [this](size_t a, size_t b) { return Sum(axes_[a]) < Sum(axes_[b]); });
  }
}

std::vector<size_t> MemoryFrontier::Above(size_t point) const {
  std::vector<size_t> found;
  if (alike_[point] == nullptr) return found;
  std::copy_if(alike_[point]->begin(), alike_[point]->end(), std::back_inserter(found),
               [&](size_t other) { return Larger(axes_[other], axes_[point]); });
  return found;
}

const std::vector<size_t>& MemoryFrontier::Below(size_t point) const {
  if (!below_[point]) below_[point] = FindBelow(point);
  return *below_[point];
}

// Searches downwards from the point. A point between another point and this one has a larger sum than the other, so it comes
// first.
std::vector<size_t> MemoryFrontier::FindBelow(size_t point) const {
  std::vector<size_t> found;
  if (alike_[point] == nullptr) return found;
  const std::vector<size_t>& group = *alike_[point];
  const auto bound = std::upper_bound(group.begin(), group.end(), Sum(axes_[point]),
                                      [&](double sum, size_t other) { return sum < Sum(axes_[other]); });
  for (auto other = std::make_reverse_iterator(bound); other != group.rend(); ++other) {
    if (!Larger(axes_[point], axes_[*other])) continue;
    const bool hidden =
        std::any_of(found.begin(), found.end(), [&](size_t between) { return Larger(axes_[between], axes_[*other]); });
    if (hidden && axes_[point].size() == 1) break;  // a chain: all others are further down
    if (!hidden) found.push_back(*other);
  }
  return found;
}

}  // namespace backplane
