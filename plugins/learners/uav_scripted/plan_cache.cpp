#include "plan_cache.hpp"

#include <algorithm>

#include "backplane/plugin.hpp"
#include "uav/rules.hpp"

namespace backplane::uav_scripted {
namespace {

int32_t ActionFor(Cell from, Cell to) {
  for (int32_t action = 0; action < uav::kActions; ++action)
    if (from.x + uav::kMoves[action].dx == to.x && from.y + uav::kMoves[action].dy == to.y) return action;
  throw bp::Error(BP_E_INTERNAL, "a path contains a step that no action makes");
}

}  // namespace

// True if every active UAV is where its way predicts and has a step left.
bool PlanCache::Plan::Foresaw(const Scene& scene) const {
  if (ways.size() != scene.uavs.size()) return false;
  for (size_t i = 0; i < ways.size(); ++i)
    if (scene.uavs[i].active && (step + 1 >= ways[i].size() || !(ways[i][step] == scene.uavs[i].at))) return false;
  return true;
}

void PlanCache::Act(uint64_t row, const Scene& scene, int32_t* actions) {
  Plan* plan;
  {
    const std::lock_guard lock(mutex_);
    plan = &plans_[row];  // stays valid when the table grows
  }
  if (scene.first || !plan->Foresaw(scene)) {
    const int64_t cells = static_cast<int64_t>(scene.size) * scene.size;
    int64_t seen = 0;
    while (seen < cells && scene.At(seen) >= 0) ++seen;
    if (seen < cells)
      throw bp::Unsupported(
          "policy: planner: expected the whole map in STATE, got one with unseen cells; set env.options.state_map: full");
    *plan = {PlanWays(scene, goal_radius_), 0};
  }
  for (size_t i = 0; i < scene.uavs.size(); ++i) {
    const Way& way = plan->ways[i];
    const bool moves = scene.uavs[i].active && plan->step + 1 < way.size();
    actions[i] = moves ? ActionFor(way[plan->step], way[plan->step + 1]) : 0;
  }
  ++plan->step;
}

}  // namespace backplane::uav_scripted
