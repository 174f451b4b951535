#include "greedy.hpp"

#include <cmath>
#include <cstdlib>
#include <limits>

#include "uav/rules.hpp"

namespace backplane::uav_scripted {
namespace {

constexpr double kCrowded = 3;  // cells

bool IsCrowded(const Scene& scene, int64_t self, Cell cell) {
  for (int64_t i = 0; i < static_cast<int64_t>(scene.uavs.size()); ++i) {
    const Uav& other = scene.uavs[i];
    if (i != self && other.active && std::abs(other.at.x - cell.x) <= 1 && std::abs(other.at.y - cell.y) <= 1) return true;
  }
  return false;
}

}  // namespace

int32_t GreedyAction(const Scene& scene, int64_t self, const uint8_t* mask, bool keep_apart) {
  const Uav& me = scene.uavs[self];
  double least = std::numeric_limits<double>::infinity();
  int32_t best = 0;
  for (int32_t action = 0; action < uav::kActions; ++action) {
    const Cell next{me.at.x + uav::kMoves[action].dx, me.at.y + uav::kMoves[action].dy};
    if (!mask[action] || !scene.Open(next)) continue;
    double cost = std::hypot(me.target.x - next.x, me.target.y - next.y);
    if (keep_apart && IsCrowded(scene, self, next)) cost += kCrowded;
    if (cost < least - 1e-12) least = cost, best = action;
  }
  return best;
}

}  // namespace backplane::uav_scripted
