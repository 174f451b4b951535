// The multi-UAV grid: options, moves, and the layout of its channels. Shared by the scalar env, the tensor env and the scripted
// policies, so that all three implement the same task.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

#include "backplane/plugin.hpp"

namespace backplane::uav {

enum class Collision { kCrash, kBlock, kPriority };
constexpr auto WordsOf(Collision) {
  return bp::Words<Collision>({{"crash", Collision::kCrash}, {"block", Collision::kBlock}, {"priority", Collision::kPriority}});
}
enum class StateMap { kFull, kExplored, kNone };
constexpr auto WordsOf(StateMap) {
  return bp::Words<StateMap>({{"full", StateMap::kFull}, {"explored", StateMap::kExplored}, {"none", StateMap::kNone}});
}
enum class Others { kList, kPatches };
constexpr auto WordsOf(Others) { return bp::Words<Others>({{"list", Others::kList}, {"patches", Others::kPatches}}); }
enum class PatchDtype { kFloat32, kInt8 };
constexpr auto WordsOf(PatchDtype) {
  return bp::Words<PatchDtype>({{"float32", PatchDtype::kFloat32}, {"int8", PatchDtype::kInt8}});
}

struct Options {
  // Throws bp::Error (BP_E_CONFIG) with the option's place if the options contradict each other.
  void Check(const bp::Config& config) const;

  int64_t cells() const { return grid_size * grid_size; }
  int64_t patch_side() const { return 2 * sensor_radius + 1; }
  bool bytes() const { return patch_dtype == PatchDtype::kInt8; }

  int64_t grid_size = 40, n_uavs = 10, n_obstacles = 40, max_steps = 200, sensor_radius = 5;
  double goal_radius = 1.5;
  Collision collision = Collision::kCrash;
  StateMap state_map = StateMap::kFull;
  Others others = Others::kList;
  PatchDtype patch_dtype = PatchDtype::kFloat32;
  bool mask_static = true;
  double step = -0.1, progress = 1, goal = 50, crash = -10, team = 20, team_share = 0;
};

// Arrays are as large as these ranges admit.
inline constexpr const char *kGridSizes = "[2,1024]", *kNumbersOfUavs = "[1,16384]";
consteval int64_t LargestOf(std::string_view range) {
  int64_t largest = 0;
  for (const char c : range.substr(range.find(',') + 1, range.size() - range.find(',') - 2)) largest = 10 * largest + (c - '0');
  return largest;
}
inline constexpr int64_t kMaxUavs = LargestOf(kNumbersOfUavs), kMaxGridSize = LargestOf(kGridSizes);
// Limit for costs that grow with the square of the number: OBS with Others::kList, and the tensor env, which compares all
// pairs.
inline constexpr int64_t kMaxUavsInPairs = 256;

inline constexpr bp::OptionTable kOptions{
    bp::Opt("grid_size", &Options::grid_size, kGridSizes, "Cells along each side of the square grid", {.unit = "cells"}),
    bp::Opt("n_uavs", &Options::n_uavs, kNumbersOfUavs, "UAVs of a row; more than 256 need others: patches",
            {.aliases = "num_uavs"}),
    bp::Opt("n_obstacles", &Options::n_obstacles, "[0,1048576]", "Cells that no UAV may enter, redrawn for each episode",
            {.aliases = "num_obstacles"}),
    bp::Opt("max_steps", &Options::max_steps, "[1,)", "Steps after which the host cuts an episode",
            {.aliases = "max_episode_steps"}),
    bp::Opt("sensor_radius", &Options::sensor_radius, "[0,)", "Cells that a UAV sees in each direction (Chebyshev distance)",
            {.unit = "cells"}),
    bp::Opt("goal_radius", &Options::goal_radius, "(0,)",
            "Euclidean distance below which a UAV has reached its target; 0.5: only its cell", {.unit = "cells"}),
    bp::Opt("collision", &Options::collision,
            "crash ends the UAVs involved; block sends them back; priority lets the lower index move"),
    bp::Opt("state_map", &Options::state_map,
            "Map in STATE: all obstacles, those that some UAV has seen, or none, which is much cheaper"),
    bp::Opt("others", &Options::others,
            "Other UAVs in OBS: a block of numbers each, or two patches with their positions and next cells"),
    bp::Opt("patch_dtype", &Options::patch_dtype,
            "float32: patches and map are in OBS and STATE; int8: in separate channels, with a quarter of the bytes",
            {.flags = BP_PARAM_LATER}),
    bp::Opt("mask_static", &Options::mask_static, "ACTION_MASK forbids moves off the grid and into obstacles"),
    bp::Opt("step", &Options::step, "Reward of each step of an active UAV"),
    bp::Opt("progress", &Options::progress, "Reward per cell of decrease in the Euclidean distance to the target"),
    bp::Opt("goal", &Options::goal, "Reward for arriving"),
    bp::Opt("crash", &Options::crash, "Reward for crashing"),
    bp::Opt("team", &Options::team, "Reward of every UAV in the step in which the last one arrives, if none has crashed"),
    bp::Opt("team_share", &Options::team_share, "[0,1]", "Share of each UAV's reward that is replaced by the mean of all"),
};

// (dx, dy) of action a; x is the column, y the row, cell = y * grid_size + x.
struct Move {
  int dx, dy;
};
inline constexpr int64_t kActions = 9;
inline constexpr Move kMoves[kActions] = {{0, 0}, {0, -1}, {0, 1}, {-1, 0}, {1, 0}, {-1, -1}, {-1, 1}, {1, -1}, {1, 1}};

// Distance between two cells, in cells. The root of an exact integer, so independent of the implementation.
inline double Distance(int64_t dx, int64_t dy) { return std::sqrt(static_cast<double>(dx * dx + dy * dy)); }

// The state of a UAV, and the reason why it was held back or crashed; of two causes in a step the lower one counts.
enum class Status : int32_t { kActive, kArrived, kCrashed };
enum Cause : uint8_t { kStatic, kVertex, kEdge, kNone };

// Cells around a map stored with a border, so that every patch is inside.
inline int64_t Border(const Options& o) { return std::max<int64_t>(o.sensor_radius, 1); }

// Numbers of OBS and STATE are quotients in float64, rounded once: k / n for k = -n .. n.
inline std::vector<float> Quotients(int64_t n) {
  std::vector<float> out;
  for (int64_t k = -n; k <= n; ++k)
    out.push_back(n == 0 ? 0.0f : static_cast<float>(static_cast<double>(k) / static_cast<double>(n)));
  return out;
}

// OBS of a UAV: [self, one block per other UAV in index order, the patch around it row by row].
//   self: x / (W - 1), y / (W - 1), last dx, last dy, (tx - x) / (W - 1), (ty - y) / (W - 1), distance / hypot(W - 1, W - 1),
//         t / max_steps
//   other: seen, relative x / R, relative y / R, last dx, last dy; zeros when inactive or farther than R (Chebyshev)
//   patch: -1 outside the grid, 1 obstacle, 0 free
inline constexpr int64_t kSelf = 8, kOther = 5;
// Others::kPatches replaces those blocks by two patches: 1 at the visible UAVs' cells, and 1 at their next cells if they repeat
// their last move, 0 elsewhere.
inline int64_t OthersSize(const Options& o) {
  return o.others == Others::kPatches ? 2 * o.patch_side() * o.patch_side() : kOther * (o.n_uavs - 1);
}
// The size of all patches of a UAV, which come last.
inline int64_t PatchesSize(const Options& o) {
  return (o.others == Others::kPatches ? 3 : 1) * o.patch_side() * o.patch_side();
}
// With PatchDtype::kInt8 they are the channel `patch`, without them.
inline int64_t ObsSize(const Options& o) {
  return kSelf + (o.others == Others::kPatches ? 0 : OthersSize(o)) + (o.bytes() ? 0 : PatchesSize(o));
}

// STATE of a row: [one block per UAV, t / max_steps, the map row by row unless state_map is none].
//   UAV: x, y (over W - 1), last dx, last dy, tx, ty (over W - 1), active, arrived
//   map: 1 obstacle, 0 free, and with `explored` -1 if unseen
inline constexpr int64_t kStatePerUav = 8;
inline int64_t MapSize(const Options& o) { return o.state_map == StateMap::kNone ? 0 : o.cells(); }
// With PatchDtype::kInt8 the map is the channel `map`, which is not there without one.
inline int64_t StateSize(const Options& o) { return kStatePerUav * o.n_uavs + 1 + (o.bytes() ? 0 : MapSize(o)); }

}  // namespace backplane::uav
