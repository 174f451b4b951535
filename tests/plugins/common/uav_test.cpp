// The grid's maps and options. The expected values come from independent code, so that a change of the generator shows.
#include <gmock/gmock.h>

#include <set>

#include "support/uav_options.hpp"
#include "uav/map.hpp"

namespace backplane::uav {
namespace {

Map Draw(uint64_t seed, const Options& options = OptionsWith()) {
  Map map;
  MapMaker(options).Draw(seed, &map);
  return map;
}

// FNV-1a 64 over int32 in little endian: sorted obstacles, then start and target of each UAV.
uint64_t Hash(const Map& map) {
  std::vector<int32_t> all = map.obstacles;
  for (size_t i = 0; i < map.start.size(); ++i) all.push_back(map.start[i]), all.push_back(map.target[i]);
  uint64_t hash = 0xcbf29ce484222325u;
  for (const int32_t cell : all)
    for (int byte = 0; byte < 4; ++byte) hash = (hash ^ (static_cast<uint32_t>(cell) >> 8 * byte & 0xFF)) * 0x100000001b3u;
  return hash;
}

int32_t Cell(int x, int y, int side = 40) { return y * side + x; }

TEST(UavMap, HasTheKnownHashOfItsSeed) {
  EXPECT_EQ(Hash(Draw(1)), 0x1418fb87eb96276bu);
  EXPECT_EQ(Hash(Draw(2)), 0x19517c1b995c25dau);
  EXPECT_EQ(Hash(Draw(3)), 0x4d7ec1119bbf9110u);
  EXPECT_EQ(Hash(Draw(42)), 0xd81c07ceefca0c31u);
}

TEST(UavMap, HasTheKnownCellsForSeedOne) {
  const Map map = Draw(1);
  EXPECT_THAT(std::vector<int32_t>(map.obstacles.begin(), map.obstacles.begin() + 3),
              testing::ElementsAre(Cell(19, 0), Cell(21, 1), Cell(24, 4)));
  EXPECT_EQ(map.start[0], Cell(24, 0));
  EXPECT_EQ(map.target[0], Cell(18, 12));
  EXPECT_EQ(map.start[9], Cell(20, 29));
  EXPECT_EQ(map.target[9], Cell(26, 5));
}

TEST(UavMap, DoesNotDependOnEarlierMaps) {
  MapMaker maker(OptionsWith());
  Map map;
  for (const uint64_t seed : {7, 42, 1}) maker.Draw(seed, &map);
  EXPECT_EQ(Hash(map), Hash(Draw(1)));
}

// Cells that are reachable from `from` by steps in the eight directions, by a plain flood fill.
std::set<int32_t> Reached(const Map& map, int32_t from, int side) {
  const std::set<int32_t> blocked(map.obstacles.begin(), map.obstacles.end());
  std::set<int32_t> seen{from};
  std::vector<int32_t> open{from};
  while (!open.empty()) {
    const int32_t cell = open.back();
    open.pop_back();
    for (const Move& m : kMoves) {
      const int x = cell % side + m.dx, y = cell / side + m.dy;
      if (x < 0 || x >= side || y < 0 || y >= side || blocked.count(Cell(x, y, side))) continue;
      if (seen.insert(Cell(x, y, side)).second) open.push_back(Cell(x, y, side));
    }
  }
  return seen;
}

TEST(UavMap, GivesEveryUavAFreeStartAndAWayToATargetAwayFromIt) {
  for (const auto& [side, n_obstacles, n_uavs] : {std::tuple{8, 22, 3}, {12, 50, 6}, {70, 1800, 5}}) {
    const Options options = OptionsWith({{"grid_size", side}, {"n_obstacles", n_obstacles}, {"n_uavs", n_uavs}});
    for (uint64_t seed = 0; seed < 20; ++seed) {
      const Map map = Draw(seed, options);
      std::set<int32_t> cells(map.obstacles.begin(), map.obstacles.end());
      cells.insert(map.start.begin(), map.start.end());
      cells.insert(map.target.begin(), map.target.end());
      EXPECT_EQ(cells.size(), static_cast<size_t>(n_obstacles + 2 * n_uavs)) << "two things are in one cell";
      for (int i = 0; i < n_uavs; ++i) {
        EXPECT_TRUE(Reached(map, map.start[i], side).count(map.target[i])) << side << ", seed " << seed;
        EXPECT_GE(Distance(map.start[i] % side - map.target[i] % side, map.start[i] / side - map.target[i] / side), 1.5);
      }
    }
  }
}

TEST(UavMap, NamesTheSeedWithoutASolvableMap) {
  const Options crowded = OptionsWith({{"grid_size", 10}, {"n_obstacles", 80}, {"n_uavs", 10}});
  try {
    Draw(77, crowded);
    FAIL();
  } catch (const bp::Error& e) {
    EXPECT_EQ(e.code(), BP_E_CONFIG);
    EXPECT_THAT(e.what(),
                testing::AllOf(testing::StartsWith("unsolvable_map: "), testing::HasSubstr("the episode with seed 77")));
  }
}

// The error for these options; empty if they are accepted.
std::string Refusal(const nlohmann::json& given) {
  try {
    OptionsWith(given);
  } catch (const bp::Error& e) {
    EXPECT_EQ(e.code(), BP_E_CONFIG);
    return e.what();
  }
  return "";
}

TEST(UavOptions, RejectsOptionsThatDoNotFitTheGridWithTheirPlaces) {
  EXPECT_EQ(Refusal({{"grid_size", 10}, {"n_uavs", 20}, {"n_obstacles", 60}}), "");
  EXPECT_EQ(Refusal({{"grid_size", 10}, {"n_uavs", 20}, {"n_obstacles", 61}}),
            "expected 101 cells or more, for 61 obstacles and 20 starts and targets each, got 100 "
            "(n_obstacles: test.yaml:n_obstacles, n_uavs: test.yaml:n_uavs, grid_size: test.yaml:grid_size)");
}

TEST(UavOptions, ListOthersForFewUavsOnly) {
  EXPECT_EQ(Refusal({{"n_uavs", 256}}), "");
  EXPECT_EQ(Refusal({{"n_uavs", 257}}),
            "n_uavs: expected at most 256 with others: list, got 257 (test.yaml:n_uavs); set others: patches, whose size does "
            "not grow with n_uavs");
  EXPECT_EQ(Refusal({{"n_uavs", 16384}, {"grid_size", 1024}, {"others", "patches"}}), "");
}

TEST(UavOptions, SeeNoFartherThanTheGrid) {
  EXPECT_EQ(Refusal({{"grid_size", 12}, {"sensor_radius", 11}}), "");
  EXPECT_EQ(Refusal({{"grid_size", 12}, {"sensor_radius", 12}}),
            "sensor_radius: expected less than grid_size (12), got 12 (test.yaml:sensor_radius)");
}

}  // namespace
}  // namespace backplane::uav
