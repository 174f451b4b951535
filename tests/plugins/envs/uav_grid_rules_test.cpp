// Crashes, stops and moves when UAVs meet: only the rules, on an empty grid unless noted.
#include <gtest/gtest.h>

#include "step.hpp"
#include "support/uav_options.hpp"

namespace backplane::uav_grid {
namespace {

enum Action { kStay, kNorth, kSouth, kWest, kEast, kNorthWest, kSouthWest, kNorthEast, kSouthEast };

struct At {
  int x, y;
  Action action;
};

struct Scene {
  Scene(uav::Collision collision, std::vector<At> uavs, const std::vector<uav::Move>& obstacles = {})
      : model(Options(collision, uavs.size())), row(model), reward(uavs.size()), ended(uavs.size()) {
    for (const uav::Move& cell : obstacles) row.map[model.Index(cell.dx, cell.dy)] = 1;
    for (size_t i = 0; i < uavs.size(); ++i) {
      Uav& u = row.uavs[i];
      u = {};
      u.x = uavs[i].x, u.y = uavs[i].y, u.tx = 35, u.ty = 35 - static_cast<int>(i);
      u.distance = uav::Distance(u.tx - u.x, u.ty - u.y);
      actions.push_back(uavs[i].action);
    }
    moved = Advance(model, actions.data(), &row, reward.data(), ended.data());
  }
  static uav::Options Options(uav::Collision collision, size_t n) {
    uav::Options options = uav::OptionsWith();
    options.collision = collision;
    options.n_uavs = static_cast<int64_t>(n);
    return options;
  }
  // One letter per UAV: X crashed, M moved, S stayed.
  std::string Fates() const {
    std::string out;
    for (const Uav& u : row.uavs) out += u.status == Status::kCrashed ? 'X' : u.dx != 0 || u.dy != 0 ? 'M' : 'S';
    return out;
  }
  std::vector<int64_t> Conflicts() const { return {row.tally.conflicts, row.tally.conflicts + 3}; }

  Model model;
  Row row;
  std::vector<int32_t> actions;
  std::vector<float> reward;
  std::vector<uint8_t> ended;
  bool moved;
};

// The fates under one rule, which stay the same if many others are far away.
std::string FatesUnder(uav::Collision collision, std::vector<At> uavs, const std::vector<uav::Move>& obstacles) {
  const std::string alone = Scene(collision, uavs, obstacles).Fates();
  for (int i = 0; i < 40; ++i) uavs.push_back({20 + i % 8 * 2, 20 + i / 8 * 2, kStay});
  const std::string among = Scene(collision, uavs, obstacles).Fates();
  EXPECT_EQ(among, alone + std::string(40, 'S'));
  return alone;
}

// The fates under crash, block and priority.
std::string Fates(const std::vector<At>& uavs, const std::vector<uav::Move>& obstacles = {}) {
  return FatesUnder(uav::Collision::kCrash, uavs, obstacles) + " " + FatesUnder(uav::Collision::kBlock, uavs, obstacles) + " " +
         FatesUnder(uav::Collision::kPriority, uavs, obstacles);
}

TEST(UavGridRules, TwoIntoOneCell) { EXPECT_EQ(Fates({{5, 5, kEast}, {7, 5, kWest}}), "XX SS MS"); }

TEST(UavGridRules, Swap) { EXPECT_EQ(Fates({{5, 5, kEast}, {6, 5, kWest}}), "XX SS SS"); }

TEST(UavGridRules, CrossedDiagonals) { EXPECT_EQ(Fates({{5, 5, kSouthEast}, {6, 5, kSouthWest}}), "XX SS SS"); }

TEST(UavGridRules, BehindAMovingUav) { EXPECT_EQ(Fates({{5, 5, kEast}, {6, 5, kEast}}), "MM MM MM"); }

TEST(UavGridRules, IntoAStayingUav) { EXPECT_EQ(Fates({{5, 5, kEast}, {6, 5, kStay}}), "XX SS SS"); }

TEST(UavGridRules, BehindAUavThatFliesIntoAnObstacle) {
  EXPECT_EQ(Fates({{5, 5, kEast}, {6, 5, kEast}}, {{7, 5}}), "MX SS SS");
  const Scene scene(uav::Collision::kCrash, {{5, 5, kEast}, {6, 5, kEast}}, {{7, 5}});
  EXPECT_EQ(scene.row.uavs[0].x, 6);
  EXPECT_EQ(scene.row.uavs[1].x, 6) << "crashed where it was";
}

TEST(UavGridRules, ThreeIntoOneCell) { EXPECT_EQ(Fates({{5, 5, kEast}, {7, 5, kWest}, {6, 4, kSouth}}), "XXX SSS MSS"); }

TEST(UavGridRules, Rotation) { EXPECT_EQ(Fates({{5, 5, kEast}, {6, 5, kSouth}, {6, 6, kNorthWest}}), "MMM MMM MMM"); }

TEST(UavGridRules, ABlockedUavBlocksTheUavsThatFollow) {
  EXPECT_EQ(Fates({{4, 5, kEast}, {5, 5, kEast}, {6, 5, kEast}, {7, 5, kStay}}), "MMXX SSSS SSSS");
}

TEST(UavGridRules, AnObstacleOrTheEdgeEndsOrHoldsBack) {
  EXPECT_EQ(Fates({{0, 0, kNorth}, {39, 39, kSouthEast}, {5, 5, kEast}}, {{6, 5}}), "XXX SSS SSS");
  EXPECT_EQ(Fates({{5, 5, kSouthEast}}, {{6, 5}, {5, 6}}), "M M M") << "between two obstacles";
}

TEST(UavGridRules, LinesDoNotMeetAcrossTheBorder) {
  // Positions whose indices in one memory row would have equal sums.
  EXPECT_EQ(Fates({{39, 5, kSouth}, {14, 6, kNorth}, {39, 20, kNorthWest}, {0, 21, kNorthEast}}), "MMMM MMMM MMMM");
}

TEST(UavGridRules, CountAUavOnceAStepForTheFirstCause) {
  // 0 and 1 swap while 2 flies to 0's target; 3 flies off the grid.
  const std::vector<At> uavs = {{5, 5, kEast}, {6, 5, kWest}, {6, 4, kSouth}, {0, 0, kNorth}};
  EXPECT_EQ(Scene(uav::Collision::kCrash, uavs).Conflicts(), (std::vector<int64_t>{1, 2, 1}));
  EXPECT_EQ(Scene(uav::Collision::kBlock, uavs).Conflicts(), (std::vector<int64_t>{1, 2, 1}));
  EXPECT_EQ(Scene(uav::Collision::kBlock, {{5, 5, kEast}, {6, 5, kStay}}).Conflicts(), (std::vector<int64_t>{0, 1, 0}))
      << "a staying UAV is not blocked";
}

TEST(UavGridRules, AnActionOutsideTheNineChangesNothing) {
  Scene scene(uav::Collision::kCrash, {{5, 5, kEast}, {9, 9, static_cast<Action>(9)}});
  EXPECT_FALSE(scene.moved);
  EXPECT_EQ(scene.Fates(), "SS");
  EXPECT_EQ(scene.row.tally.t, 0);
  EXPECT_FALSE(Scene(uav::Collision::kCrash, {{5, 5, static_cast<Action>(-1)}}).moved);
}

TEST(UavGridRules, TheTeamIsPaidWhenTheLastOneArrivesAndNoneCrashed) {
  Scene scene(uav::Collision::kCrash, {{33, 35, kStay}, {33, 34, kStay}});
  const auto step = [&](Action a, Action b) {
    scene.actions = {a, b};
    ASSERT_TRUE(Advance(scene.model, scene.actions.data(), &scene.row, scene.reward.data(), scene.ended.data()));
  };
  step(kEast, kStay);
  EXPECT_FLOAT_EQ(scene.reward[0], -0.1f + 1 + 50);
  EXPECT_FLOAT_EQ(scene.reward[1], -0.1f);
  EXPECT_EQ(scene.ended, (std::vector<uint8_t>{1, 0}));
  step(kStay, kEast);
  EXPECT_FLOAT_EQ(scene.reward[0], 20) << "the one that arrived before";
  EXPECT_FLOAT_EQ(scene.reward[1], -0.1f + 1 + 50 + 20);
  EXPECT_EQ(scene.ended, (std::vector<uint8_t>{0, 1}));
  step(kStay, kStay);
  EXPECT_EQ(scene.reward, (std::vector<float>{0, 0})) << "no reward is paid twice";
}

}  // namespace
}  // namespace backplane::uav_grid
