#include "step.hpp"

#include <algorithm>

#include "collisions.hpp"

namespace backplane::uav_grid {
namespace {

static_assert(2 * uav::kMaxGridSize < 1 << 15, "the sum of two places keeps x and y apart");
int32_t Place(int32_t x, int32_t y) { return y << 16 | x; }

bool Propose(const Model& model, const int32_t* action, const Row& row, Proposals* out) {
  const bool crash = model.options.collision == uav::Collision::kCrash;
  bool valid = true;
  int64_t n = 0;
  for (size_t i = 0; i < row.uavs.size(); ++i) {
    const Uav& u = row.uavs[i];
    if (u.status != Status::kActive) continue;
    const uint32_t a = static_cast<uint32_t>(action[i]);
    valid &= a < uav::kActions;
    const uint32_t move = a < uav::kActions ? a : 0;
    const bool free = row.map[model.Index(u.x, u.y) + model.offset[move]] == 0;
    out->who[n] = static_cast<int32_t>(i);
    out->from[n] = Place(u.x, u.y);
    out->to[n] = Place(u.x + uav::kMoves[move].dx, u.y + uav::kMoves[move].dy);
    out->middle[n] = out->from[n] + out->to[n];
    out->cause[n] = kNone;
    if (!free) {
      out->cause[n] = kStatic;
      out->Stay(n);
      // It is gone for the others: a unique place off the grid.
      if (crash) out->to[n] = out->middle[n] = -1 - static_cast<int32_t>(n);
    }
    ++n;
  }
  out->n = n;
  return valid;
}

void ShareRewards(const uav::Options& o, bool all_arrive, std::vector<double>* earned) {
  if (all_arrive)
    for (double& one : *earned) one += o.team;
  if (o.team_share <= 0) return;
  double sum = 0;
  for (const double one : *earned) sum += one;
  const double shared = o.team_share * (sum / static_cast<double>(earned->size()));
  for (double& one : *earned) one = (1 - o.team_share) * one + shared;
}

}  // namespace

bool Advance(const Model& model, const int32_t* action, Row* row, float* reward, uint8_t* ended) {
  const uav::Options& o = model.options;
  const int64_t n_uavs = o.n_uavs;
  const bool crash = o.collision == uav::Collision::kCrash;
  Proposals& p = row->proposals;
  if (!Propose(model, action, *row, &p)) return false;
  crash ? CrashConflicts(&p) : HoldBackConflicts(o.collision == uav::Collision::kPriority, &p);

  std::vector<double>& earned = row->earned;
  std::fill(earned.begin(), earned.end(), 0.0);
  std::fill_n(ended, n_uavs, uint8_t{0});
  Tally& tally = row->tally;
  bool arrivals = false;
  for (int64_t k = 0; k < p.n; ++k) {
    const int32_t i = p.who[k];
    Uav& u = row->uavs[i];
    if (p.cause[k] != kNone) ++tally.conflicts[p.cause[k]];
    const bool crashed = crash && p.cause[k] != kNone;
    const int32_t to = crashed ? p.from[k] : p.to[k];
    const int32_t x = to & 0xFFFF, y = to >> 16;
    u.dx = static_cast<int16_t>(x - u.x), u.dy = static_cast<int16_t>(y - u.y);
    u.x = x, u.y = y;
    tally.walked += to != p.from[k];
    const double distance = uav::Distance(u.tx - x, u.ty - y);
    double r = o.step + o.progress * (u.distance - distance);
    u.distance = distance;
    if (crashed) {
      u.status = Status::kCrashed, r += o.crash, ++tally.crashed, ended[i] = 1;
    } else if (distance < o.goal_radius) {
      u.status = Status::kArrived, r += o.goal, ++tally.arrived, ended[i] = 1;
      arrivals = true;
    }
    earned[i] = r;
  }
  ++tally.t;
  ShareRewards(o, arrivals && tally.arrived == n_uavs, &earned);
  for (int64_t i = 0; i < n_uavs; ++i) reward[i] = static_cast<float>(earned[i]);
  return true;
}

}  // namespace backplane::uav_grid
