#include <gtest/gtest.h>

#include "trial/ticks.hpp"

namespace backplane {
namespace {

TEST(TickTable, AddsUpByPhase) {
  std::vector<LongTicks> table;
  for (const double seconds : {2.0, 5.0, 3.0}) NoteLongTick("update_forward", seconds, &table);
  NoteLongTick("sync", 4, &table);
  ASSERT_EQ(table.size(), 2u);
  EXPECT_EQ(table[0].phase, "update_forward");
  EXPECT_EQ(table[0].count, 3u);
  EXPECT_EQ(table[0].seconds, 10);
  EXPECT_EQ(table[0].longest_s, 5);
}

TEST(TickTable, ALongNameIsFoundAgain) {
  std::vector<LongTicks> table;
  for (int i = 0; i < 3; ++i) NoteLongTick(std::string(1000, 'x'), 2, &table);
  ASSERT_EQ(table.size(), 1u);
  EXPECT_LT(table[0].phase.size(), 200u);
  EXPECT_EQ(table[0].count, 3u);
}

TEST(TickTable, SumsExcessPhasesInOneEntry) {
  std::vector<LongTicks> table;
  for (int turn = 0; turn < 2; ++turn)
    for (size_t i = 0; i < kMaxTickPhases + 3; ++i) NoteLongTick("phase " + std::to_string(i), 2, &table);
  ASSERT_EQ(table.size(), kMaxTickPhases + 1);
  for (size_t i = 0; i < kMaxTickPhases; ++i) EXPECT_EQ(table[i].count, 2u) << table[i].phase;
  EXPECT_EQ(table.back().phase, "other");
  EXPECT_EQ(table.back().count, 6u);
}

}  // namespace
}  // namespace backplane
