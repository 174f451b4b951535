#include "results/series.hpp"

#include <gtest/gtest.h>

#include "base/json_path.hpp"
#include "contract/schema.hpp"
#include "support/trials.hpp"

namespace backplane {
namespace {

using testing::Test;

ParallelEfficiency Analyse(std::vector<ResultSet> sets, const nlohmann::json& baseline = nullptr) {
  const std::vector<std::string> outside = PathsOutsideIdentity();
  return AnalyseParallelEfficiency(Combine(std::move(sets)), baseline, {}, {outside.begin(), outside.end()});
}

std::vector<std::string> Labels(const ParallelEfficiency& found) {
  std::vector<std::string> labels;
  for (const ScoredSeries& one : found.series) labels.push_back(one.label);
  return labels;
}

TEST(Series, OneSeriesNeedsNoLabel) {
  EXPECT_EQ(std::vector<std::string>{""}, Labels(Analyse({MakeSet({MakeTrial(1, 1, 10), MakeTrial(2, 1, 20)})})));
}

TEST(Series, EachValueOfAnOptionIsASeriesWithItsOwnBaseline) {
  const std::string lr = "learner.options.lr";
  const ParallelEfficiency found =
      Analyse({MakeSet({Swept(MakeTrial(1, 1, 1000), lr, 0.1), Swept(MakeTrial(1, 1, 100), lr, 0.2),
                        Swept(MakeTrial(2, 1, 1800), lr, 0.1), Swept(MakeTrial(2, 1, 200), lr, 0.2)})});
  EXPECT_EQ((std::vector<std::string>{"lr=0.1", "lr=0.2"}), Labels(found));
  EXPECT_EQ(1.8, *found.settings.at(1).speedup);
  EXPECT_EQ(2, *found.settings.at(3).speedup);
  EXPECT_EQ(2u, found.recommendations.size());
}

TEST(Series, ALabelHasOnlyTheValuesThatDistinguishSeries) {
  // Zipped: the second option adds no information to the first.
  const auto zipped = [](double lr, int epochs) {
    return Swept(Swept(MakeTrial(1, 1, 10), "learner.options.lr", lr), "learner.options.epochs", epochs);
  };
  EXPECT_EQ(2u, Labels(Analyse({MakeSet({zipped(0.1, 1), zipped(0.2, 2)})})).size());
  for (const std::string& label : Labels(Analyse({MakeSet({zipped(0.1, 1), zipped(0.2, 2)})}))) {
    EXPECT_EQ(std::string::npos, label.find(' ')) << label;
  }
}

TEST(Series, PluginsComeFirstInALabel) {
  TrialData other = Swept(MakeTrial(1, 1, 10), "env", {{"plugin", "runner"}, {"options", {{"speed", 1}}}});
  EXPECT_EQ((std::vector<std::string>{"plugin=walker", "plugin=runner"}),
            Labels(Analyse({MakeSet({MakeTrial(1, 1, 10), other})})));
}

// A trial that never started has its batch's configuration without a preset; an older program's configuration lacks keys.
TEST(Series, NullValuesAndAUsedPresetDoNotDistinguishSeries) {
  TrialData started = MakeTrial(1, 1, 10), never_started = MakeTrial(2, 1, 10);
  started.config["preset"] = "fast";
  started.config["learner"]["options"]["clip"] = nullptr;
  never_started.config.erase("preset");
  EXPECT_EQ(std::vector<std::string>{""}, Labels(Analyse({MakeSet({started, never_started})})));
  started.config["learner"]["options"]["clip"] = 0.1;
  EXPECT_EQ(2u, Labels(Analyse({MakeSet({started, never_started})})).size());
}

// Trials with the same id belong to the same series, whatever other keys they recorded, and vice versa.
TEST(Series, KeysOutsideTheIdentityDistinguishSeriesOnlyIfSwept) {
  for (const HostKey& key : HostKeys()) {
    const bool within = key.path == "seed" || key.path == kRunnersPath || key.path == kRowsPath;
    if (!key.recorded() || within || key.path == "resources.gpus") continue;  // only the kind of device counts
    TrialData other = MakeTrial(2, 1, 10);
    SetAtPath(&other.config, key.path, "another value");
    const size_t wanted = key.scope == Scope::kIdentity ? 2 : 1;
    EXPECT_EQ(Labels(Analyse({MakeSet({MakeTrial(1, 1, 10), other})})).size(), wanted) << key.path;
    if (key.scope != Scope::kSpeed) continue;
    EXPECT_EQ(
        Labels(Analyse({MakeSet({Swept(MakeTrial(1, 1, 10), key.path, "one"), Swept(MakeTrial(1, 1, 10), key.path, "two")})}))
            .size(),
        2u)
        << key.path;
  }
}

TEST(Series, APluginIsTheSameWhetherItIsCalledByItsNameOrItsFile) {
  TrialData by_file = MakeTrial(2, 1, 10);
  by_file.config["env"]["plugin"] = "/lib/env_walker.so";
  EXPECT_EQ(Labels(Analyse({MakeSet({MakeTrial(1, 1, 10), by_file})})), std::vector<std::string>{""});
  by_file.files["env.plugin"] = "cccccccccc";
  EXPECT_EQ(Labels(Analyse({MakeSet({MakeTrial(1, 1, 10), by_file})})).size(), 2u);
}

TEST(Series, ThreadsAreOneOnlyIfTheSweepNamesThem) {
  TrialData more_threads = MakeTrial(2, 1, 10);
  more_threads.config["rollout"]["threads"] = 4;
  EXPECT_EQ(1u, Analyse({MakeSet({MakeTrial(1, 1, 10), more_threads})}).series.size());
  const std::string threads = "rollout.threads";
  EXPECT_EQ((std::vector<std::string>{"threads=1", "threads=2"}),
            Labels(Analyse({MakeSet({Swept(MakeTrial(1, 1, 10), threads, 1), Swept(MakeTrial(1, 1, 10), threads, 2)})})));
}

TEST(Series, TheKindOfDeviceDistinguishesSeries) {
  TrialData on_gpu = MakeTrial(1, 1, 10, 1);
  on_gpu.gpus = 1;
  EXPECT_EQ((std::vector<std::string>{"device=cpu", "device=cuda"}), Labels(Analyse({MakeSet({MakeTrial(1, 1, 10), on_gpu})})));
}

TEST(Series, MachinesAreKeptApart) {
  const ParallelEfficiency found = Analyse({MakeSet({MakeTrial(1, 1, 1000), MakeTrial(2, 1, 1500)}, "a", "here"),
                                            MakeSet({MakeTrial(1, 1, 100), MakeTrial(2, 1, 200)}, "b", "there")});
  ASSERT_EQ(2u, found.series.size());
  const std::vector<std::string> labels = Labels(found);
  EXPECT_EQ((std::set<std::string>{"host=here", "host=there"}), std::set<std::string>(labels.begin(), labels.end()));
  for (const Setting& setting : found.settings) {
    if (setting.num_env_runners == 1) continue;
    EXPECT_EQ(labels[setting.series] == "host=there" ? 2 : 1.5, *setting.speedup);
  }
}

TEST(Series, ABaselineMayExistInOnlyOneSeries) {
  const std::string lr = "learner.options.lr";
  const ParallelEfficiency found = Analyse({MakeSet({Swept(MakeTrial(1, 1, 10), lr, 0.1), Swept(MakeTrial(2, 1, 15), lr, 0.1),
                                                     Swept(MakeTrial(1, 1, 10), lr, 0.2)})},
                                           {{lr, 0.1}, {"rollout.num_env_runners", 2}});
  EXPECT_EQ(1u, *found.series[0].baseline);
  EXPECT_EQ(2u, *found.series[1].baseline);
  EXPECT_EQ("", found.series[1].baseline_note);
}

}  // namespace
}  // namespace backplane
