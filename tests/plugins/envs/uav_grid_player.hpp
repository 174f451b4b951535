// One row of the grid, known only by its channels: the map, the UAVs, and the greedy policies.
#pragma once

#include <cmath>

#include "places.hpp"
#include "support/env_harness.hpp"
#include "uav/rules.hpp"

namespace backplane::uav_grid {

inline const std::string kFile = BACKPLANE_PLUGIN_DIR "/env_uav_grid.so";

class Player {
 public:
  explicit Player(const nlohmann::json& options = nlohmann::json::object())
      : env(kFile, 1, 1, options), side_(options.value("grid_size", 40)) {}

  void Reset(uint64_t seed) { ASSERT_EQ(env.Reset(0, {seed}), BP_OK) << env.error(); }
  void Step(const std::vector<int32_t>& actions) {
    std::copy(actions.begin(), actions.end(), env.At<int32_t>("action"));
    ASSERT_EQ(env.Step(), BP_OK) << env.error();
  }

  int n() const { return static_cast<int>(env.spec().max_agents); }
  bool over() const { return *env.At<uint8_t>("terminated") != 0; }
  bool active(int i) const { return Block(i)[6] == 1; }
  bool arrived(int i) const { return Block(i)[7] == 1; }
  int x(int i) const { return Cell(Block(i)[0]); }
  int y(int i) const { return Cell(Block(i)[1]); }
  int tx(int i) const { return Cell(Block(i)[4]); }
  int ty(int i) const { return Cell(Block(i)[5]); }
  const uint8_t* mask(int i) const { return env.At<uint8_t>("action_mask") + i * uav::kActions; }
  const float* reward() const { return env.At<float>("reward"); }
  const float* obs(int i) const { return env.Obs() + i * env.Size("obs") / n(); }

  // The first allowed action that ends nearest to the target; a later one must be nearer by more than 1e-12. `keep_away` is
  // added if a neighbour of the new cell holds an active UAV. 0: greedy, 3: greedy_sep.
  std::vector<int32_t> Greedy(double keep_away) const {
    std::vector<int32_t> actions(n());
    for (int i = 0; i < n(); ++i) {
      double best = INFINITY;
      for (int a = 0; a < uav::kActions; ++a) {
        if (!mask(i)[a]) continue;
        const int nx = x(i) + uav::kMoves[a].dx, ny = y(i) + uav::kMoves[a].dy;
        double cost = std::sqrt((tx(i) - nx) * (tx(i) - nx) + (ty(i) - ny) * (ty(i) - ny));
        for (int j = 0; j < n(); ++j)
          if (j != i && active(j) && std::abs(x(j) - nx) <= 1 && std::abs(y(j) - ny) <= 1) {
            cost += keep_away;
            break;
          }
        if (cost < best - 1e-12) best = cost, actions[i] = a;
      }
    }
    return actions;
  }

  harness::Env env;

 private:
  const float* Block(int i) const { return env.At<float>("state") + i * uav::kStatePerUav; }
  int Cell(float scaled) const { return static_cast<int>(std::lround(scaled * static_cast<float>(side_ - 1))); }

  int side_;
};

}  // namespace backplane::uav_grid
