#include "results/combine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "results/parallel_efficiency.hpp"
#include "support/trials.hpp"

namespace backplane {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TrialData Ended(TrialData trial, double ended) {
  trial.ended = ended;
  return trial;
}

double SpsOf(const CombinedTrial& trial) { return trial.data.Find("SPS")->value; }

TEST(Combine, KeepsASingleSetUnchanged) {
  const Combined combined = Combine({MakeSet({MakeTrial(1, 1, 10), MakeTrial(2, 1, 20)})});
  ASSERT_EQ(2u, combined.trials.size());
  EXPECT_EQ(10, SpsOf(combined.trials[0]));
  EXPECT_EQ(0u, combined.replaced);
  EXPECT_EQ("", combined.groups.at(0).label);
  EXPECT_THAT(combined.warnings, ElementsAre());
  EXPECT_THAT(combined.experiments, ElementsAre("walk"));
}

TEST(Combine, TheNewestOfTheSameTrialCounts) {
  const Combined combined =
      Combine({MakeSet({Ended(MakeTrial(1, 1, 10), 5)}, "old"), MakeSet({Ended(MakeTrial(1, 1, 20), 6)}, "new")});
  ASSERT_EQ(1u, combined.trials.size());
  EXPECT_EQ(20, SpsOf(combined.trials[0]));
  EXPECT_EQ("new", combined.trials[0].data.out);
  EXPECT_EQ(1u, combined.replaced);
}

TEST(Combine, AUsableTrialCountsBeforeANewerOneThatFailedOrNeverStarted) {
  TrialData planned = MakeTrial(1, 1, std::nullopt);
  planned.state = TrialState::kPlanned, planned.ended = 0;
  const Combined combined = Combine({MakeSet({planned}, "a"), MakeSet({Ended(MakeTrial(1, 1, 10), 5)}, "b"),
                                     MakeSet({Ended(MakeTrial(1, 1, std::nullopt), 9)}, "c")});
  ASSERT_EQ(1u, combined.trials.size());
  EXPECT_EQ(TrialState::kCompleted, combined.trials[0].data.state);
  EXPECT_EQ(2u, combined.replaced);
}

TEST(Combine, KeepsTheSameTrialOfTwoMachinesApart) {
  const Combined combined =
      Combine({MakeSet({MakeTrial(1, 1, 10)}, "a", "here"), MakeSet({MakeTrial(1, 1, 20)}, "b", "there")});
  EXPECT_EQ(2u, combined.trials.size());
  EXPECT_EQ(0u, combined.replaced);
  ASSERT_EQ(2u, combined.groups.size());
  ASSERT_EQ(1u, combined.warnings.size());
  EXPECT_EQ(
      "These results come from 2 machines or builds that differ in host (here | there). Their times cannot be compared, so "
      "each has its own baseline.",
      combined.warnings[0]);
}

TEST(Combine, EachFactOfMachineAndLibrariesMakesAGroup) {
  const std::pair<const char*, void (*)(RunInfo&)> kChanges[] = {
      {"hostname", [](RunInfo& run) { run.host.hostname = "changed"; }},
      {"cpu", [](RunInfo& run) { run.host.cpu = "changed"; }},
      {"granted_cores", [](RunInfo& run) { run.host.granted_cores = 64; }},
      {"devices",
       [](RunInfo& run) {
         run.devices = {{"changed", 1}};
       }},
      {"backplane", [](RunInfo& run) { run.versions.backplane = "changed"; }},
      {"compiler", [](RunInfo& run) { run.versions.compiler = "changed"; }},
      {"torch", [](RunInfo& run) { run.versions.torch = "changed"; }}};
  for (const auto& [what, change] : kChanges) {
    ResultSet other = MakeSet({MakeTrial(1, 1, 20)}, "b");
    change(other.run);
    EXPECT_EQ(2u, Combine({MakeSet({MakeTrial(1, 1, 10)}, "a"), other}).groups.size()) << what;
  }
}

TEST(Combine, ASlightDifferenceInMemoryMakesNoGroup) {
  ResultSet other = MakeSet({MakeTrial(1, 1, 20)}, "b");
  other.run.host.memory_bytes = 8589934592 - 50'000'000;
  EXPECT_EQ(1u, Combine({MakeSet({MakeTrial(1, 1, 10)}, "a"), other}).groups.size());
  other.run.host.memory_bytes = 8589934592 * 2;
  EXPECT_EQ(2u, Combine({MakeSet({MakeTrial(1, 1, 10)}, "a"), other}).groups.size());
}

TEST(Combine, ADifferentBuildOfAPluginMakesAGroup) {
  TrialData rebuilt = MakeTrial(1, 1, 20);
  rebuilt.files["learner.plugin"] = "cccccccccccc";
  const Combined combined = Combine({MakeSet({MakeTrial(1, 1, 10)}, "a"), MakeSet({rebuilt}, "b")});
  ASSERT_EQ(2u, combined.groups.size());
  EXPECT_THAT(combined.warnings.at(0), HasSubstr("that differ in learner.plugin learns (bbbbbbbb | cccccccc)"));
  EXPECT_EQ("learner.plugin learns=", combined.groups[0].label.substr(0, 22));
}

TEST(Combine, TwoPluginsInOneSweepAreNoTwoBuilds) {
  TrialData other = Swept(MakeTrial(1, 1, 20), "env.plugin", "swimmer");
  other.files["env.plugin"] = "dddddddddd";
  EXPECT_EQ(1u, Combine({MakeSet({MakeTrial(1, 1, 10), other})}).groups.size());
}

TEST(Combine, NamesGroupsAfterACommandsFile) {
  TrialData before = MakeTrial(1, 1, 10);
  before.config["learner"]["command"] = {"sh", "/folder/t.sh", "{seed}"};
  before.files["learner.command.1"] = "ce3ff6b9aaaa";
  TrialData after = before;
  after.files["learner.command.1"] = "a943525daaaa";
  after.trial_id += "-after";
  const Combined combined = Combine({MakeSet({before}, "a"), MakeSet({after}, "b")});
  ASSERT_EQ(combined.groups.size(), 2u);
  EXPECT_EQ(std::set<std::string>({combined.groups[0].label, combined.groups[1].label}),
            std::set<std::string>({"t.sh=a943525d", "t.sh=ce3ff6b9"}));
}

// All inputs of reports.
std::string Dump(const Combined& combined) {
  std::string text;
  for (const auto& folder : combined.folders) text += folder.string() + "\n";
  for (const Group& group : combined.groups) text += group.label + ToJson(group.run).dump() + "\n";
  for (const CombinedTrial& trial : combined.trials) {
    text += trial.data.out.string() + trial.data.trial_id + std::to_string(trial.group) + "\n";
  }
  for (const std::string& warning : combined.warnings) text += warning + "\n";
  text += std::to_string(combined.replaced) + "\n";
  const ParallelEfficiency found = AnalyseParallelEfficiency(combined, nullptr);
  for (const Setting& setting : found.settings) {
    text += std::to_string(setting.series) + setting.name + setting.failure + nlohmann::json(setting.trials).dump();
    text += nlohmann::json(setting.sps ? setting.sps->value : 0).dump();
    text += nlohmann::json(setting.sps ? setting.sps->sd.value_or(0) : 0).dump();
    text += nlohmann::json(setting.efficiency_pct.value_or(0)).dump() + "\n";
  }
  for (size_t i = 0; i < found.series.size(); ++i) {
    text += found.series[i].label + found.series[i].baseline_note + "\n";
    for (const Recommendation& one : found.recommendations[i]) {
      text += one.goal + std::to_string(one.setting.value_or(99)) + std::to_string(one.nearest.value_or(99)) + one.why + "\n";
    }
  }
  return text;
}

TEST(Combine, TheOrderOfTheFoldersChangesNothing) {
  // Their sum depends on the order of addition.
  const std::vector<ResultSet> sets = {
      MakeSet({Ended(MakeTrial(1, 1, 1e3 / 3), 7), MakeTrial(1, 1, 1e9 / 7, 1), MakeTrial(2, 1, std::nullopt)}, "z"),
      MakeSet({Ended(MakeTrial(1, 1, 100), 6), MakeTrial(1, 1, 1e-3 / 11, 2), MakeTrial(2, 1, 77, 3)}, "y"),
      MakeSet({MakeTrial(1, 1, 50), MakeTrial(2, 1, 120), MakeTrial(4, 2, 200)}, "x", "there")};
  std::vector<size_t> order(sets.size());
  std::iota(order.begin(), order.end(), 0);
  const std::string expected = Dump(Combine(sets));
  int permutations = 0;
  do {
    std::vector<ResultSet> permuted;
    for (const size_t i : order) permuted.push_back(sets[i]);
    EXPECT_EQ(expected, Dump(Combine(permuted)));
    ++permutations;
  } while (std::next_permutation(order.begin(), order.end()));
  EXPECT_EQ(6, permutations);
  EXPECT_THAT(expected, HasSubstr("host=there"));
}

TEST(Combine, FoldersThatWereRenamedKeepTheirOrder) {
  const auto first = [](const std::string& a, const std::string& b) {
    const Combined combined = Combine({MakeSet({MakeTrial(1, 1, 10)}, a), MakeSet({MakeTrial(2, 1, 20)}, b)});
    return combined.trials.at(0).data.trial_id;
  };
  EXPECT_EQ(first("a", "b"), first("b", "a"));
}

}  // namespace
}  // namespace backplane
