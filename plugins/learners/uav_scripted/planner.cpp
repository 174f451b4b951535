#include "planner.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <queue>
#include <unordered_set>

#include "uav/rules.hpp"

namespace backplane::uav_scripted {
namespace {

constexpr int kFar = -1;

double Distance(Cell a, Cell b) { return std::hypot(a.x - b.x, a.y - b.y); }

class Search {
 public:
  Search(const Scene& scene, double goal_radius) : scene_(scene), goal_radius_(goal_radius), ways_(scene.uavs.size()) {}

  bool Find(size_t self);  // false: there is no way
  void Stay(size_t self) { ways_[self] = {scene_.uavs[self].at}; }
  std::vector<Way>& ways() { return ways_; }

 private:
  struct Node {
    Cell at;
    int step;
    int64_t parent;  // in nodes_; -1: none
  };
  // By estimated length; of equal ones the one that has come farther, then the older one.
  struct Open {
    int length, step;
    int64_t node;
    bool operator<(const Open& other) const {
      return length != other.length ? length > other.length : step != other.step ? step < other.step : node > other.node;
    }
  };

  int64_t IndexOf(Cell c) const { return static_cast<int64_t>(c.y) * scene_.size + c.x; }
  void MeasureSteps(Cell target);
  bool IsTaken(Cell from, Cell to, int step) const;
  Way WayTo(int64_t node) const;

  const Scene& scene_;
  double goal_radius_;
  std::vector<Way> ways_;
  std::vector<int> steps_left_;  // [cells] ignoring other UAVs; kFar: unreachable
  std::vector<Node> nodes_;
};

void Search::MeasureSteps(Cell target) {
  steps_left_.assign(static_cast<size_t>(scene_.size) * scene_.size, kFar);
  std::deque<Cell> border;
  const int reach = static_cast<int>(std::min<double>(std::ceil(goal_radius_), scene_.size));
  for (int y = target.y - reach; y <= target.y + reach; ++y) {
    for (int x = target.x - reach; x <= target.x + reach; ++x) {
      if (!scene_.Open({x, y}) || Distance({x, y}, target) >= goal_radius_) continue;
      steps_left_[IndexOf({x, y})] = 0;
      border.push_back({x, y});
    }
  }
  for (; !border.empty(); border.pop_front()) {
    const Cell from = border.front();
    for (const uav::Move& move : uav::kMoves) {
      const Cell to{from.x + move.dx, from.y + move.dy};
      if (!scene_.Open(to) || steps_left_[IndexOf(to)] != kFar) continue;
      steps_left_[IndexOf(to)] = steps_left_[IndexOf(from)] + 1;
      border.push_back(to);
    }
  }
}

// True if a UAV that has already planned enters `to` in the step from `step` to `step + 1`, or swaps or crosses with this move.
// Also true if one stays there in the first step because it has no way.
bool Search::IsTaken(Cell from, Cell to, int step) const {
  for (const Way& way : ways_) {
    if (step == 0 && way.size() == 1 && way[0] == to) return true;
    if (step + 1 >= static_cast<int>(way.size())) continue;
    const Cell a = way[step], b = way[step + 1];
    if (b == to) return true;
    // Two moves with one midpoint swap cells or cross. A UAV that stays shares its midpoint with none that moves.
    if (!(from == to) && a.x + b.x == from.x + to.x && a.y + b.y == from.y + to.y) return true;
  }
  return false;
}

Way Search::WayTo(int64_t node) const {
  Way way;
  for (; node >= 0; node = nodes_[node].parent) way.push_back(nodes_[node].at);
  std::reverse(way.begin(), way.end());
  return way;
}

bool Search::Find(size_t self) {
  const Uav& me = scene_.uavs[self];
  MeasureSteps(me.target);
  const int least = steps_left_[IndexOf(me.at)];
  if (least == kFar) return false;
  // A longer way goes in circles.
  const int last_step = least + 2 * scene_.size;
  nodes_ = {{me.at, 0, -1}};
  std::unordered_set<int64_t> seen;
  std::priority_queue<Open> open;
  open.push({least, 0, 0});
  while (!open.empty()) {
    const int64_t index = open.top().node;
    open.pop();
    const Node node = nodes_[index];
    if (node.step > 0 && steps_left_[IndexOf(node.at)] == 0) {
      ways_[self] = WayTo(index);
      return true;
    }
    for (const uav::Move& move : uav::kMoves) {
      const Cell to{node.at.x + move.dx, node.at.y + move.dy};
      const int step = node.step + 1;
      if (!scene_.Open(to) || step > last_step || steps_left_[IndexOf(to)] == kFar) continue;
      if (IsTaken(node.at, to, node.step)) continue;
      const int64_t key = static_cast<int64_t>(step) * scene_.size * scene_.size + IndexOf(to);
      if (!seen.insert(key).second) continue;
      open.push({step + steps_left_[IndexOf(to)], step, static_cast<int64_t>(nodes_.size())});
      nodes_.push_back({to, step, index});
    }
  }
  return false;
}

// The first in `order` without a way, after planning the ones before it; order.size() if all have one.
size_t PlanInOrder(const std::vector<size_t>& order, Search* search) {
  for (size_t i = 0; i < order.size(); ++i)
    if (!search->Find(order[i])) return i;
  return order.size();
}

}  // namespace

std::vector<Way> PlanWays(const Scene& scene, double goal_radius) {
  std::vector<size_t> order;
  for (size_t i = 0; i < scene.uavs.size(); ++i)
    if (scene.uavs[i].active) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return Distance(scene.uavs[a].at, scene.uavs[a].target) > Distance(scene.uavs[b].at, scene.uavs[b].target);
  });
  const size_t rounds = order.size();
  std::vector<size_t> stay;  // without a way in this step; the others avoid their cells
  for (size_t round = 0;; ++round) {
    Search search(scene, goal_radius);
    for (const size_t i : stay) search.Stay(i);
    const size_t left_out = PlanInOrder(order, &search);
    if (left_out == order.size()) return std::move(search.ways());
    if (round < rounds) {
      std::rotate(order.begin(), order.begin() + left_out, order.begin() + left_out + 1);
      continue;
    }
    stay.push_back(order[left_out]);
    order.erase(order.begin() + left_out);
  }
}

}  // namespace backplane::uav_scripted
