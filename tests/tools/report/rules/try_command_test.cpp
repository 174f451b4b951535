#include "rules/try_command.hpp"

#include <gtest/gtest.h>

#include "result_sets.hpp"

namespace backplane {
namespace {

using test_support::Set;

// A batch that was started with all options of the command line.
ResultSet Typed() {
  ResultSet set = Set({});
  set.run.config_file = "my walk.yaml";
  set.run.set = {"seed=3", "rollout.threads=9"};
  set.run.sweep = {"learner.options.lr=0.1,0.2"};
  set.run.arguments = TypedArguments{"wide", {"p"}, "here", "", "1", ""};
  return set;
}

std::string CommandOf(const ResultSet& set, Fix fix) {
  Diagnosis diagnosis;
  diagnosis.findings.emplace_back().fixes = {std::move(fix)};
  diagnosis.findings.front().out = set.out.string();
  AddTryCommands({set}, "backplane", &diagnosis);
  return diagnosis.findings.front().fixes.front().command;
}

TEST(TryCommand, KeepsHowTheBatchWasStarted) {
  EXPECT_EQ(
      "backplane run 'my walk.yaml' --set seed=3 --sweep learner.options.lr=0.1,0.2 --preset wide --plugin-path p --jobs 1 "
      "--set rollout.threads=2 --out outputs/walk_try",
      CommandOf(Typed(), {"rollout.threads", 9, 2}));
}

TEST(TryCommand, AnAxisThatWasTypedGivesWayToTheNewOneInTheSameFolder) {
  EXPECT_EQ(
      "backplane run 'my walk.yaml' --set seed=3 --set rollout.threads=9 --preset wide --plugin-path p --jobs 1 "
      "--sweep learner.options.lr=0.1,0.05 --out here",
      CommandOf(Typed(), {"learner.options.lr", 0.1, 0.05, true}));
}

TEST(TryCommand, NamesThePointAndTheDependentChanges) {
  Fix fix{"learner.options.lr", 0.1, 0.05, true, "two words"};
  EXPECT_EQ("backplane run outputs/walk/config.yaml --sweep 'two words:learner.options.lr=0.05'", CommandOf(Set({}), fix));
  fix = {"learner.options.size", 8, 4};
  fix.also = {{"learner.options.parts", 2}};
  EXPECT_EQ(
      "backplane run outputs/walk/config.yaml --set learner.options.size=4 --set learner.options.parts=2 --out "
      "outputs/walk_try",
      CommandOf(Set({}), fix));
}

TEST(TryCommand, TheReportOfTheFirstBatchStays) {
  ResultSet set = Set({});
  set.config["output"]["report_dir"] = "analysis";
  EXPECT_EQ(
      "backplane run outputs/walk/config.yaml --set seed=1 --out outputs/walk_try --set "
      "output.report_dir=outputs/walk_try/report",
      CommandOf(set, {"seed", 0, 1}));
}

}  // namespace
}  // namespace backplane
