#include "uav_grid_reference.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace backplane::uav_grid {
namespace {

enum { kStatic, kVertex, kEdge, kNone };

}  // namespace

void Reference::Reset(uint64_t seed) {
  uav::Map map;
  maker_.Draw(seed, &map);
  ground_.assign(o.cells(), 0);
  seen_.assign(o.cells(), -1);
  for (const int32_t cell : map.obstacles) ground_[cell] = 1;
  all_.clear();
  for (int64_t i = 0; i < o.n_uavs; ++i)
    all_.push_back({{map.start[i] % o.grid_size, map.start[i] / o.grid_size},
                    {map.target[i] % o.grid_size, map.target[i] / o.grid_size},
                    {0, 0},
                    true,
                    false});
  t_ = walked_ = 0;
  std::fill(conflicts_, conflicts_ + 3, 0);
  Look();
}

int8_t Reference::Ground(Cell c) const {
  if (c.x < 0 || c.y < 0 || c.x >= o.grid_size || c.y >= o.grid_size) return -1;
  return ground_[c.y * o.grid_size + c.x];
}

void Reference::Look() {
  for (const One& u : all_) {
    if (!u.active) continue;
    for (int64_t y = u.at.y - o.sensor_radius; y <= u.at.y + o.sensor_radius; ++y)
      for (int64_t x = u.at.x - o.sensor_radius; x <= u.at.x + o.sensor_radius; ++x)
        if (Ground({x, y}) >= 0) seen_[y * o.grid_size + x] = Ground({x, y});
  }
}

// The UAVs' next cells, under block and priority; under crash, only `cause` has a meaning.
std::vector<Reference::Cell> Reference::Resolve(std::vector<Cell> wanted, std::vector<int>* cause) const {
  const bool crash = o.collision == uav::Collision::kCrash, priority = o.collision == uav::Collision::kPriority;
  for (;;) {
    std::vector<int> found(all_.size(), kNone);
    for (size_t i = 0; i < all_.size(); ++i) {
      for (size_t j = 0; j < all_.size(); ++j) {
        if (i == j || !all_[i].active || !all_[j].active) continue;
        if (crash && (cause->at(i) == kStatic || cause->at(j) == kStatic)) continue;
        const bool i_moves = wanted[i] != all_[i].at, j_moves = wanted[j] != all_[j].at;
        const bool vertex = wanted[i] == wanted[j];
        const bool edge = i_moves && j_moves && all_[i].at.x + wanted[i].x == all_[j].at.x + wanted[j].x &&
                          all_[i].at.y + wanted[i].y == all_[j].at.y + wanted[j].y;
        if (!crash && !i_moves) continue;
        if (vertex && !(priority && j_moves && i < j)) found[i] = std::min<int>(found[i], kVertex);
        if (edge) found[i] = std::min<int>(found[i], kEdge);
      }
    }
    bool changed = false;
    for (size_t i = 0; i < all_.size(); ++i) {
      if (found[i] == kNone) continue;
      cause->at(i) = found[i];
      wanted[i] = all_[i].at;
      changed = true;
    }
    if (crash || !changed) return wanted;
  }
}

void Reference::Step(const int32_t* action) {
  const bool crash = o.collision == uav::Collision::kCrash;
  std::vector<Cell> wanted;
  std::vector<int> cause(all_.size(), kNone);
  for (size_t i = 0; i < all_.size(); ++i) {
    const One& u = all_[i];
    wanted.push_back(u.at);
    if (!u.active) continue;
    const Cell cell{u.at.x + uav::kMoves[action[i]].dx, u.at.y + uav::kMoves[action[i]].dy};
    if (Ground(cell) == 0)
      wanted[i] = cell;
    else
      cause[i] = kStatic;
  }
  wanted = Resolve(wanted, &cause);
  ended.assign(all_.size(), 0);
  std::vector<double> earned(all_.size(), 0.0);
  for (size_t i = 0; i < all_.size(); ++i) {
    One& u = all_[i];
    if (!u.active) continue;
    if (cause[i] != kNone) ++conflicts_[cause[i]];
    const double before = std::hypot(u.target.x - u.at.x, u.target.y - u.at.y);
    u.last = {wanted[i].x - u.at.x, wanted[i].y - u.at.y};
    walked_ += u.last != Cell{0, 0};
    u.at = wanted[i];
    const double after = std::sqrt(std::pow(u.target.x - u.at.x, 2) + std::pow(u.target.y - u.at.y, 2));
    const bool crashed = crash && cause[i] != kNone, arrives = !crashed && after < o.goal_radius;
    earned[i] = o.step + o.progress * (before - after) + (arrives ? o.goal : 0) + (crashed ? o.crash : 0);
    u.arrived = arrives;
    u.active = !crashed && !arrives;
    ended[i] = !u.active;
  }
  ++t_;
  if (std::all_of(all_.begin(), all_.end(), [](const One& u) { return u.arrived; }) &&
      std::find(ended.begin(), ended.end(), 1) != ended.end())
    for (double& r : earned) r += o.team;
  double mean = 0;
  for (const double r : earned) mean += r / static_cast<double>(earned.size());
  reward.clear();
  for (const double r : earned) reward.push_back(static_cast<float>((1 - o.team_share) * r + o.team_share * mean));
  Look();
}

std::vector<float> Reference::Obs() const {
  std::vector<float> out;
  const auto side = static_cast<double>(o.grid_size - 1);
  const int64_t radius = o.sensor_radius;
  const auto add = [&out](double value) { out.push_back(static_cast<float>(value)); };
  for (size_t i = 0; i < all_.size(); ++i) {
    const One& u = all_[i];
    if (!u.active) {
      out.resize(out.size() + uav::ObsSize(o), 0.0f);
      continue;
    }
    const int64_t dx = u.target.x - u.at.x, dy = u.target.y - u.at.y;
    add(u.at.x / side), add(u.at.y / side), add(u.last.x), add(u.last.y), add(dx / side), add(dy / side);
    add(std::sqrt(dx * dx + dy * dy) / std::sqrt(side * side + side * side));
    add(static_cast<double>(t_) / static_cast<double>(o.max_steps));
    const auto seen = [&](size_t j) {
      const Cell v = all_[j].at;
      return j != i && all_[j].active && std::max(std::abs(v.x - u.at.x), std::abs(v.y - u.at.y)) <= radius;
    };
    if (o.others == uav::Others::kPatches) {
      for (const int ahead : {0, 1})
        for (int64_t y = u.at.y - radius; y <= u.at.y + radius; ++y)
          for (int64_t x = u.at.x - radius; x <= u.at.x + radius; ++x) {
            bool marked = false;
            for (size_t j = 0; j < all_.size(); ++j) {
              const One& v = all_[j];
              marked |= seen(j) && v.at.x + ahead * v.last.x == x && v.at.y + ahead * v.last.y == y;
            }
            add(marked);
          }
    } else {
      for (size_t j = 0; j < all_.size(); ++j) {
        if (j == i) continue;
        const One& v = all_[j];
        const auto r = static_cast<double>(radius);
        const int64_t x = v.at.x - u.at.x, y = v.at.y - u.at.y;
        const bool s = seen(j);
        add(s), add(s ? x / r : 0), add(s ? y / r : 0), add(s ? v.last.x : 0), add(s ? v.last.y : 0);
      }
    }
    for (int64_t y = u.at.y - radius; y <= u.at.y + radius; ++y)
      for (int64_t x = u.at.x - radius; x <= u.at.x + radius; ++x) add(Ground({x, y}));
  }
  return out;
}

std::vector<float> Reference::State() const {
  std::vector<float> out;
  const auto side = static_cast<double>(o.grid_size - 1);
  for (const One& u : all_)
    for (const double value : {u.at.x / side, u.at.y / side, double(u.last.x), double(u.last.y), u.target.x / side,
                               u.target.y / side, double(u.active), double(u.arrived)})
      out.push_back(static_cast<float>(value));
  out.push_back(static_cast<float>(static_cast<double>(t_) / static_cast<double>(o.max_steps)));
  if (o.state_map == uav::StateMap::kFull) out.insert(out.end(), ground_.begin(), ground_.end());
  if (o.state_map == uav::StateMap::kExplored) out.insert(out.end(), seen_.begin(), seen_.end());
  return out;
}

std::vector<uint8_t> Reference::Mask() const {
  std::vector<uint8_t> out;
  for (const One& u : all_)
    for (int a = 0; a < uav::kActions; ++a)
      out.push_back(a == 0 ||
                    (u.active && (!o.mask_static || Ground({u.at.x + uav::kMoves[a].dx, u.at.y + uav::kMoves[a].dy}) == 0)));
  return out;
}

std::vector<uint8_t> Reference::Alive() const {
  std::vector<uint8_t> out;
  for (const One& u : all_) out.push_back(u.active);
  return out;
}

std::vector<float> Reference::Statistics() const {
  double arrived = 0, active = 0;
  const auto n = static_cast<double>(all_.size());
  for (const One& u : all_) arrived += u.arrived, active += u.active;
  std::vector<float> out;
  for (const double value : {arrived / n, (n - arrived - active) / n, active / n, double(arrived == n), double(walked_) / n,
                             double(conflicts_[0]), double(conflicts_[1]), double(conflicts_[2])})
    out.push_back(static_cast<float>(value));
  return out;
}

bool Reference::over() const {
  return std::none_of(all_.begin(), all_.end(), [](const One& u) { return u.active; });
}

}  // namespace backplane::uav_grid
