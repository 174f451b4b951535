// The scripted policies, driven through their function table on small scenes, and the planner on random maps.
#include <gmock/gmock.h>

#include <cmath>
#include <set>

#include "backplane/learner.hpp"
#include "fake_host.hpp"
#include "planner.hpp"
#include "support/uav_options.hpp"
#include "uav/map.hpp"
#include "uav/rules.hpp"

namespace {

using backplane::test_support::Buffer;
using backplane::test_support::FakeHost;
using testing::ElementsAre;
using testing::HasSubstr;
using namespace backplane::uav_scripted;
namespace uav = backplane::uav;

enum Action : int32_t { kStay, kUp, kDown, kLeft, kRight, kUpLeft, kDownLeft, kUpRight, kDownRight };

struct EnvShape {
  int64_t size = 8, n_uavs = 2;
  bool map = true;
  int64_t choices = 9;
  const char* told = "0";  // grid_size
};

constexpr int64_t kRows = 4;

// A learner, created for one row, with STATE, mask and actions for four rows of a small grid.
class Fixture {
 public:
  explicit Fixture(const std::string& policy, EnvShape shape = {})
      : shape_(shape),
        state_size_(8 * shape.n_uavs + 1 + (shape.map ? shape.size * shape.size : 0)),
        host_(*bp_module_v1()->descriptor(0), {{"policy", policy}, {"grid_size", shape.told}, {"goal_radius", "0.5"}}),
        state({kRows, state_size_}),
        mask({kRows * shape.n_uavs, shape.choices}),
        action({kRows * shape.n_uavs}) {
    const bp_channel channels[] = {
        {sizeof(bp_channel), BP_ROLE_STATE, BP_SPACE_BOX, BP_SCOPE_ROW, 1, bp::DtypeOf<float>(), "state", &state_size_},
        {sizeof(bp_channel), BP_ROLE_ACTION_MASK, BP_SPACE_MULTI_BINARY, BP_SCOPE_AGENT, 1, bp::DtypeOf<uint8_t>(),
         "action_mask", &shape_.choices},
        {sizeof(bp_channel), BP_ROLE_ACTION, BP_SPACE_DISCRETE, BP_SCOPE_AGENT, 0, bp::DtypeOf<int32_t>(), "action", nullptr,
         nullptr, nullptr, &shape_.choices}};
    const bp_env_spec spec{sizeof(bp_env_spec), static_cast<uint32_t>(shape.n_uavs), channels, 3, 200};
    created = api_->create(&host_.host, &host_.config, &spec, 1, 1, &learner_);
    std::fill(mask.data.begin(), mask.data.end(), uint8_t{1});
  }
  ~Fixture() {
    if (learner_) api_->destroy(learner_);
  }

  void Place(int64_t row, int64_t i, Cell at, Cell target, bool active = true) {
    float* s = state.data.data() + row * state_size_ + 8 * i;
    const auto scaled = [&](int cell) { return static_cast<float>(cell) / static_cast<float>(shape_.size - 1); };
    const float block[8] = {scaled(at.x), scaled(at.y), 0, 0, scaled(target.x), scaled(target.y), active ? 1.f : 0.f, 0};
    std::copy(block, block + 8, s);
  }
  void Time(int64_t row, int step) { state.data[row * state_size_ + 8 * shape_.n_uavs] = static_cast<float>(step) / 200; }
  void Map(int64_t row, Cell at, float what) {
    state.data[row * state_size_ + 8 * shape_.n_uavs + 1 + at.y * shape_.size + at.x] = what;
  }
  bp_status Act(uint64_t begin, uint64_t end, uint64_t step = 0, uint32_t flags = BP_ACT_EXPLORE) {
    bp_tensor* const in[] = {&state.tensor, &mask.tensor};
    bp_tensor* const out[] = {&action.tensor};
    const bp_act act{sizeof(bp_act), flags, begin, end, 0, 5, step, in, out, nullptr, nullptr};
    return api_->act(learner_, &act);
  }
  const std::string& error() const { return host_.error; }

 private:
  EnvShape shape_;
  int64_t state_size_;
  FakeHost host_;
  const bp_learner_api* api_ = static_cast<const bp_learner_api*>(bp_module_v1()->api("learner.uav_scripted"));
  bp_learner* learner_ = nullptr;

 public:
  bp_status created;
  Buffer<float> state;
  Buffer<uint8_t> mask;
  Buffer<int32_t> action;
};

TEST(UavScripted, GreedyFliesStraightAndPrefersTheLowestOfEqualActions) {
  Fixture f("greedy");
  f.Place(0, 0, {2, 2}, {5, 5});
  f.Place(0, 1, {4, 4}, {4, 4}, /*active=*/false);
  f.mask.data[0 * 9 + kDownRight] = 0;  // then down and right are equally near
  ASSERT_EQ(f.Act(0, 1), BP_OK) << f.error();
  EXPECT_EQ(f.action.data[0], kDown);
}

TEST(UavScripted, GreedyAvoidsObstaclesOfTheMapThatTheMaskAllows) {
  Fixture f("greedy");
  f.Place(0, 0, {2, 2}, {6, 2});
  f.Map(0, {3, 2}, 1);
  ASSERT_EQ(f.Act(0, 1), BP_OK) << f.error();
  EXPECT_EQ(f.action.data[0], kUpRight);
}

TEST(UavScripted, GreedySepMakesWayForAnActiveNeighbourOnly) {
  Fixture f("greedy_sep");
  f.Place(0, 0, {2, 2}, {7, 2}), f.Place(0, 1, {4, 2}, {0, 2});
  f.Place(1, 0, {2, 2}, {7, 2}), f.Place(1, 1, {4, 2}, {0, 2}, /*active=*/false);
  ASSERT_EQ(f.Act(0, 2), BP_OK) << f.error();
  EXPECT_EQ(f.action.data[0], kStay) << "every cell closer to the target counts 3 more, those behind are farther than staying";
  EXPECT_EQ(f.action.data[2], kRight);
}

TEST(UavScripted, RandomMaskedKeepsToTheMaskAndRandomDoesNot) {
  for (const bool masked : {true, false}) {
    Fixture f(masked ? "random_masked" : "random");
    std::fill(f.mask.data.begin(), f.mask.data.end(), uint8_t{0});
    for (int i = 0; i < 8; ++i) f.mask.data[i * 9 + kLeft] = f.mask.data[i * 9] = 1;
    std::set<int32_t> seen;
    for (uint64_t step = 0; step < 100; ++step) {
      ASSERT_EQ(f.Act(0, 4, step), BP_OK) << f.error();
      seen.insert(f.action.data.begin(), f.action.data.end());
    }
    if (masked) {
      EXPECT_THAT(seen, ElementsAre(kStay, kLeft));
    } else {
      EXPECT_EQ(seen.size(), 9u);
    }
  }
}

TEST(UavScripted, ARowsActionsDoNotDependOnOtherRows) {
  for (const char* policy : {"stay", "random", "random_masked", "greedy", "greedy_sep", "planner"}) {
    Fixture whole(policy), parts(policy);
    for (Fixture* f : {&whole, &parts})
      for (int row = 0; row < 4; ++row) f->Place(row, 0, {row, 1}, {7, row}), f->Place(row, 1, {7, row}, {0, row + 1});
    ASSERT_EQ(whole.Act(0, 4), BP_OK) << whole.error();
    for (const uint64_t row : {3, 0, 2, 1}) ASSERT_EQ(parts.Act(row, row + 1), BP_OK) << parts.error();
    EXPECT_EQ(whole.action.data, parts.action.data) << policy;
  }
}

TEST(UavScripted, ThePlannerSeparatesTrainingAndEvaluationRows) {
  Fixture f("planner");
  f.Place(0, 0, {0, 0}, {4, 0}), f.Place(0, 1, {7, 7}, {7, 3});
  ASSERT_EQ(f.Act(0, 1), BP_OK) << f.error();
  EXPECT_EQ(f.action.data[1], kUp);
  // An evaluation begins in the row of the same number and takes a different path.
  const std::vector<float> training = f.state.data;
  f.Place(0, 0, {0, 7}, {0, 3}), f.Place(0, 1, {7, 0}, {3, 0});
  ASSERT_EQ(f.Act(0, 1, 0, BP_ACT_GREEDY), BP_OK) << f.error();
  EXPECT_THAT(f.action.data[0], kUp);
  EXPECT_THAT(f.action.data[1], kLeft);
  // The training row follows its plan, and its map is no longer read.
  f.state.data = training;
  f.Place(0, 0, {1, 0}, {4, 0}), f.Place(0, 1, {7, 6}, {7, 3}), f.Time(0, 1);
  f.Map(0, {5, 5}, -1);
  ASSERT_EQ(f.Act(0, 1, 1), BP_OK) << f.error();
  EXPECT_EQ(f.action.data[0], kRight);
}

TEST(UavScripted, ThePlannerPlansFromThePresentCellsWithoutAPlan) {
  Fixture f("planner");
  f.Place(3, 0, {0, 0}, {6, 6}), f.Place(3, 1, {7, 0}, {7, 6});
  f.Time(3, 50);
  ASSERT_EQ(f.Act(3, 4), BP_OK) << f.error();
  EXPECT_THAT(f.action.data, ElementsAre(0, 0, 0, 0, 0, 0, kDownRight, kDown)) << "also in rows beyond those given at create";
}

TEST(UavScripted, ThePlannerRejectsAnIncompleteMap) {
  Fixture f("planner");
  f.Place(0, 0, {0, 0}, {6, 6}), f.Place(0, 1, {7, 0}, {7, 6});
  f.Map(0, {4, 4}, -1);
  EXPECT_EQ(f.Act(0, 1), BP_E_UNSUPPORTED);
  EXPECT_THAT(f.error(), HasSubstr("state_map: full"));
  Fixture none("planner", {.map = false, .told = "8"});
  EXPECT_EQ(none.created, BP_E_UNSUPPORTED);
  EXPECT_THAT(none.error(), HasSubstr("set env.options.state_map: full"));
  Fixture untold("planner", {.map = false});
  EXPECT_EQ(untold.created, BP_E_UNSUPPORTED);
  EXPECT_THAT(untold.error(), HasSubstr("set env.options.state_map: full")) << "the grid's size would not help";
}

TEST(UavScripted, WithoutAMapItNeedsTheGridsSize) {
  Fixture untold("greedy", {.map = false});
  EXPECT_EQ(untold.created, BP_E_UNSUPPORTED);
  EXPECT_THAT(untold.error(), HasSubstr("set grid_size"));
  Fixture told("greedy", {.map = false, .told = "8"});
  told.Place(0, 0, {2, 2}, {5, 5});
  ASSERT_EQ(told.Act(0, 1), BP_OK) << told.error();
  EXPECT_EQ(told.action.data[0], kDownRight);
  Fixture wrong("greedy", {.told = "9"});
  EXPECT_EQ(wrong.created, BP_E_UNSUPPORTED);
  EXPECT_THAT(wrong.error(), HasSubstr("grid_size: expected 8, the width of the map in STATE, got 9"));
}

TEST(UavScripted, RejectsADifferentTask) {
  Fixture f("greedy", {.choices = 5});
  EXPECT_EQ(f.created, BP_E_UNSUPPORTED);
  EXPECT_THAT(f.error(), HasSubstr("9 actions"));
}

// The rules of the grid, written independently: forbidden pairs of moves in one step.
bool Conflict(Cell a, Cell a_next, Cell b, Cell b_next) {
  if (a_next == b_next) return true;
  const bool both_move = !(a == a_next) && !(b == b_next);
  return both_move && a.x + a_next.x == b.x + b_next.x && a.y + a_next.y == b.y + b_next.y;
}

// Two UAVs in a corridor of one cell's width with a bay: the lower-ranked one must let the other pass.
TEST(Planner, OneWaitsInTheBayUntilTheOtherHasPassed) {
  constexpr int kSize = 7;
  std::vector<float> map(kSize * kSize, 1);
  for (int x = 0; x < kSize; ++x) map[3 * kSize + x] = 0;
  map[2 * kSize + 3] = 0;
  Scene scene{kSize, true, map.data(), {{{0, 3}, {6, 3}, true}, {{5, 3}, {0, 3}, true}}};
  const std::vector<Way> ways = PlanWays(scene, 0.5);
  EXPECT_EQ(ways[0].size(), 7u) << "the farther one goes straight";
  EXPECT_EQ(ways[0].back(), (Cell{6, 3}));
  EXPECT_EQ(ways[1].back(), (Cell{0, 3}));
  EXPECT_THAT(ways[1], testing::Contains(Cell{3, 2}));
}

// Face to face in a corridor without a bay: each blocks the other's only way.
TEST(Planner, NoUavEntersTheCellOfOneWithoutAWay) {
  constexpr int kSize = 4;
  std::vector<float> map(kSize * kSize, 1);
  std::fill_n(map.begin() + kSize, kSize, 0.0f);
  Scene scene{kSize, true, map.data(), {{{1, 1}, {3, 1}, true}, {{2, 1}, {0, 1}, true}}};
  const std::vector<Way> ways = PlanWays(scene, 0.5);
  EXPECT_EQ(std::min(ways[0].size(), ways[1].size()), 1u) << "one is left without a way";
  const auto after_one = [](const Way& way) { return way[std::min<size_t>(1, way.size() - 1)]; };
  EXPECT_FALSE(Conflict(ways[0][0], after_one(ways[0]), ways[1][0], after_one(ways[1])));
}

TEST(Planner, BringsEveryUavOfEveryMapToItsTargetWithoutAConflict) {
  for (const auto& [n_uavs, n_obstacles, goal_radius] : {std::tuple(10, 40, 1.5), std::tuple(20, 160, 0.5)}) {
    const uav::Options options =
        uav::OptionsWith({{"n_uavs", n_uavs}, {"n_obstacles", n_obstacles}, {"goal_radius", goal_radius}});
    uav::MapMaker maker(options);
    const auto size = static_cast<int>(options.grid_size);
    const auto cell = [&](int32_t index) { return Cell{index % size, index / size}; };
    for (uint64_t seed = 1; seed <= 20; ++seed) {
      SCOPED_TRACE(seed);
      uav::Map drawn;
      maker.Draw(seed, &drawn);
      std::vector<float> map(size * size, 0);
      for (const int32_t o : drawn.obstacles) map[o] = 1;
      Scene scene{size, true, map.data(), {}};
      for (int i = 0; i < n_uavs; ++i) scene.uavs.push_back({cell(drawn.start[i]), cell(drawn.target[i]), true});
      const std::vector<Way> ways = PlanWays(scene, goal_radius);
      for (int i = 0; i < n_uavs; ++i) {
        EXPECT_EQ(ways[i].front(), scene.uavs[i].at);
        const Cell last = ways[i].back(), target = scene.uavs[i].target;
        EXPECT_LT(std::hypot(last.x - target.x, last.y - target.y), goal_radius);
        for (size_t k = 0; k + 1 < ways[i].size(); ++k) {
          EXPECT_LE(std::max(std::abs(ways[i][k].x - ways[i][k + 1].x), std::abs(ways[i][k].y - ways[i][k + 1].y)), 1);
          EXPECT_TRUE(scene.Open(ways[i][k + 1]));
          for (int j = 0; j < i; ++j)
            EXPECT_FALSE(k + 1 < ways[j].size() && Conflict(ways[i][k], ways[i][k + 1], ways[j][k], ways[j][k + 1]))
                << "UAVs " << j << " and " << i << " in step " << k;
        }
      }
    }
  }
}

}  // namespace
