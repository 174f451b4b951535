#include "record/plan_file.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>

namespace backplane {
namespace {

using testing::HasSubstr;

class PlanFileTest : public testing::Test {
 protected:
  ~PlanFileTest() override { std::filesystem::remove(file_); }

  std::filesystem::path file_ = std::filesystem::path(testing::TempDir()) / ("plan_" + std::to_string(getpid()) + ".jsonl");
};

TEST_F(PlanFileTest, IsReadAsItWasWritten) {
  PlanLine big, small, dropped;
  big.values = {{"z.last", 0.1}};
  big.trial_id = "t0", big.point_id = "p1", big.seed = 18446744073709551615u;
  small.values = {{"z.last", 1}, {"a.first", {{"deep", {1, 2}}}}};
  small.trial_id = "t1", small.point_id = "p0", small.name = "small", small.seed = 5, small.files = {{"env.plugin", "abc"}};
  dropped.values = {{"z.last", "three"}};
  dropped.dropped = true, dropped.rule = "where #1", dropped.why = "64 / 3 is no integer";
  WritePlanFile(file_, {big, small, dropped});
  const std::vector<PlanLine> lines = ReadPlanFile(file_);
  ASSERT_EQ(3u, lines.size());
  EXPECT_EQ("t0", lines[0].trial_id) << "in the order in which they should run";
  EXPECT_EQ("p1", lines[0].point_id);
  EXPECT_EQ(18446744073709551615u, lines[0].seed);
  EXPECT_EQ("small", lines[1].name);
  EXPECT_EQ(small.values, lines[1].values) << "in the file's order, not sorted";
  EXPECT_EQ("abc", lines[1].files.at("env.plugin"));
  EXPECT_FALSE(lines[1].dropped);
  EXPECT_TRUE(lines[2].dropped);
  EXPECT_EQ("where #1", lines[2].rule);
  EXPECT_EQ("64 / 3 is no integer", lines[2].why);
  EXPECT_EQ("three", lines[2].values.at(0).second);
}

TEST_F(PlanFileTest, ErrorsNameFileAndLine) {
  std::ofstream(file_) << R"({"dropped":true,"values":{},"rule":"r","why":""})"
                       << "\n{}\n";
  try {
    ReadPlanFile(file_);
    FAIL() << "a line of unknown kind was read";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr(file_.string() + ":2: "));
  }
  std::filesystem::remove(file_);
  EXPECT_THROW(ReadPlanFile(file_), std::runtime_error);
}

TEST(DisplayName, IncludesTheSeedIfSeedsDiffer) {
  PlanLine one, two;
  one.name = "lr=0.1";
  two.seed = 1;
  EXPECT_EQ("lr=0.1", DisplayName(one, HasSeveralSeeds({one, one})));
  EXPECT_EQ("lr=0.1 seed=0", DisplayName(one, HasSeveralSeeds({one, two})));
  EXPECT_EQ("seed=1", DisplayName(two, false));
  two.dropped = true;
  EXPECT_FALSE(HasSeveralSeeds({one, two}));
}

}  // namespace
}  // namespace backplane
