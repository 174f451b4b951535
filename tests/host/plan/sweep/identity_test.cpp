#include "sweep/identity.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <utility>

#include "base/files.hpp"
#include "base/sha256.hpp"
#include "sweep/file_hashes.hpp"

namespace backplane {
namespace {

class IdentityTest : public testing::Test {
 protected:
  IdentityTest() {
    std::filesystem::create_directories(folder_);
    loaded_.env = Plugin("env.toy");
    loaded_.learner = Plugin("learner.toy");
    loaded_.experiment.env = {"toy", {{"size", 3}}};
    loaded_.experiment.learner = {"toy", {{"lr", 0.1}}};
    loaded_.experiment.evaluation.env_options = nlohmann::json::object();
  }
  ~IdentityTest() override { std::filesystem::remove_all(folder_); }

  std::shared_ptr<PluginInfo> Plugin(const std::string& id) {
    auto info = std::make_shared<PluginInfo>();
    info->id = id;
    info->file = folder_ / (id + ".so");
    std::ofstream(info->file) << id;
    return info;
  }
  // The id of a trial without a sweep; `swept` adds omitted keys.
  std::string Id(const std::map<std::string, nlohmann::json>& swept = {}) const {
    return IdOf(TrialIdentity(PointIdentity(loaded_, swept), loaded_.experiment.seed, FileHashes().Of(loaded_)));
  }
  std::string PointId() const { return IdOf(PointIdentity(loaded_, {})); }

  std::filesystem::path folder_ = std::filesystem::path(testing::TempDir()) / ("identity_test_" + std::to_string(getpid()));
  LoadedExperiment loaded_;
};

TEST_F(IdentityTest, IsSixteenHexDigits) {
  EXPECT_EQ(std::string::npos, Id().find_first_not_of("0123456789abcdef"));
  EXPECT_EQ(16u, Id().size());
}

TEST_F(IdentityTest, KeysWithoutEffectOnNumbersKeepTheId) {
  const std::string before = Id();
  loaded_.experiment.name = "other";
  loaded_.experiment.output_dir = "elsewhere";
  loaded_.experiment.monitors = {{"watcher", {}}};
  loaded_.monitors = {Plugin("monitor.watcher")};
  loaded_.experiment.rollout.threads = 7;
  loaded_.experiment.rollout.pin_threads = true;
  loaded_.experiment.rollout.workers = 4;
  loaded_.experiment.resources.hang_timeout_s = 1;
  loaded_.experiment.checkpoint = {.every_iterations = 5, .every_episodes = 100};
  EXPECT_EQ(before, Id());
}

// A new option of a plugin keeps the points of finished trials.
TEST_F(IdentityTest, NewOptionCountsOnlyIfItDiffersFromItsDefault) {
  const std::string before = PointId();
  auto learner = Plugin("learner.toy");
  learner->options.push_back(
      {.path = "device", .type = BP_PARAM_ENUM, .flags = BP_PARAM_LATER, .def = "cpu", .range = "cpu|cuda"});
  loaded_.learner = learner;
  loaded_.experiment.learner.options["device"] = "cpu";
  EXPECT_EQ(before, PointId());
  loaded_.experiment.learner.options["device"] = "cuda";
  EXPECT_NE(before, PointId());
}

// A different text would run finished trials of a results folder again. (shipped_points_test.cpp checks shipped files.)
TEST_F(IdentityTest, TheCanonicalTextIsUnchanged) {
  EXPECT_EQ(PointIdentity(loaded_, {}).dump(),
            R"({"device":"cpu",)"
            R"("env":{"id":"env.toy","options":{"size":3}},)"
            R"("evaluation":{"at_start":false,"env_options":{},"episodes":0,"every_iterations":0},)"
            R"("learner":{"id":"learner.toy","options":{"lr":0.1}},)"
            R"("rollout":{"chunk_rows":1,"num_env_runners":1,"num_envs_per_env_runner":1},"schema":3})");
  Experiment& experiment = loaded_.experiment;
  experiment.rollout = {.num_env_runners = 2, .num_envs_per_env_runner = 32, .threads = 2, .chunk_rows = {}};
  experiment.budget = {.iterations = 3, .env_steps = 4000, .epochs = 2, .wall_time_s = 90.5};
  experiment.evaluation = {.every_iterations = 5, .at_start = true, .episodes = 7, .env_options = {{"size", 4}}};
  experiment.resources.gpus = 0.5;
  experiment.report.kind = "parallel_efficiency";
  experiment.report.precision_pct = 2.5;
  experiment.report.max_time_s = 20;
  EXPECT_EQ(PointIdentity(loaded_, {{"rollout.threads", 2}, {"monitors", nlohmann::json::array()}}, "0123456789abcdef").dump(),
            R"({"after":"0123456789abcdef",)"
            R"("budget":{"env_steps":4000,"epochs":2,"iterations":3,"max_time_s":20.0,"precision_pct":2.5,"wall_time_s":90.5,)"
            R"("warm_up_iterations":1},"device":"cuda",)"
            R"("env":{"id":"env.toy","options":{"size":3}},)"
            R"("evaluation":{"at_start":true,"env_options":{"size":4},"episodes":7,"every_iterations":5},)"
            R"("learner":{"id":"learner.toy","options":{"lr":0.1}},)"
            R"("rollout":{"chunk_rows":16,"num_env_runners":2,"num_envs_per_env_runner":32},"schema":3,)"
            R"("swept":{"monitors":[],"rollout.threads":2}})");
}

// Results of schema 2 keep the ids of their trials.
TEST_F(IdentityTest, SchemaTwoIncludesTheBudget) {
  loaded_.experiment.budget.iterations = 3;
  EXPECT_EQ(PointIdentity(loaded_, {}, "", {.schema = 2}).dump(),
            R"({"budget":{"env_steps":null,"epochs":null,"iterations":3,"wall_time_s":null},"device":"cpu",)"
            R"("env":{"id":"env.toy","options":{"size":3}},)"
            R"("evaluation":{"at_start":false,"env_options":{},"episodes":0,"every_iterations":0},)"
            R"("learner":{"id":"learner.toy","options":{"lr":0.1}},)"
            R"("rollout":{"chunk_rows":1,"num_env_runners":1,"num_envs_per_env_runner":1},"schema":2})");
}

class BudgetInIdentity : public IdentityTest {
 protected:
  BudgetInIdentity() {
    loaded_.experiment.budget = {.iterations = 2, .env_steps = 100, .episodes = 7, .epochs = 1, .wall_time_s = 9};
  }
  // True if every limit, changed alone, changes the point.
  bool Belongs(const std::map<std::string, nlohmann::json>& swept = {}, const std::string& after = "",
               const IdentityRules& rules = {}) {
    const auto id = [&] { return IdOf(PointIdentity(loaded_, swept, after, rules)); };
    const BudgetConfig before = loaded_.experiment.budget;
    std::vector<bool> changes;
    const auto with = [&](auto change) {
      const std::string same = id();
      change(loaded_.experiment.budget);
      changes.push_back(id() != same);
      loaded_.experiment.budget = before;
    };
    with([](BudgetConfig& budget) { budget.iterations = 5; });
    with([](BudgetConfig& budget) { budget.env_steps.reset(); });
    with([](BudgetConfig& budget) { budget.episodes = 8; });
    with([](BudgetConfig& budget) { budget.epochs = 2; });
    with([](BudgetConfig& budget) { budget.wall_time_s = 10; });
    EXPECT_EQ(std::count(changes.begin(), changes.end(), changes.front()), 5);
    return changes.front();
  }
  void AddSchedule(const char* value, uint16_t type, const char* reads) {
    auto learner = Plugin("learner.toy");
    learner->options.push_back({.path = "schedule", .type = type, .reads_budget = reads});
    loaded_.learner = learner;
    loaded_.experiment.learner.options["schedule"] = nlohmann::json::parse(value);
  }
};

TEST_F(BudgetInIdentity, LeavesItUnlessSomethingReadsIt) {
  EXPECT_FALSE(Belongs());
  EXPECT_TRUE(Belongs({}, "", {.keeps_budget = true})) << "stages and searches";
  EXPECT_TRUE(Belongs({{"budget.iterations", 2}})) << "it is swept";
  EXPECT_FALSE(Belongs({{"rollout.threads", 2}}));
  EXPECT_TRUE(Belongs({}, "", {.schema = 2}));
  loaded_.experiment.report.kind = "comparison";
  EXPECT_FALSE(Belongs());
  loaded_.experiment.report.timing = true;
  EXPECT_TRUE(Belongs()) << "times are compared";
}

TEST_F(BudgetInIdentity, StaysWithACommand) {
  loaded_.experiment.command.words = {"python3", "train.py"};
  EXPECT_TRUE(Belongs()) << "its arguments may repeat the budget";
}

TEST_F(BudgetInIdentity, StaysWithValuesThatReadIt) {
  AddSchedule("\"constant\"", BP_PARAM_ENUM, "linear|cosine");
  EXPECT_FALSE(Belongs());
  for (const char* value : {"\"linear\"", "\"cosine\""}) {
    AddSchedule(value, BP_PARAM_ENUM, "linear|cosine");
    EXPECT_TRUE(Belongs()) << value;
  }
  for (const auto& [value, reads] : {std::pair("0", false), {"0.1", true}, {"1", false}, {"500", false}}) {
    AddSchedule(value, BP_PARAM_F64, "(0,1)");
    EXPECT_EQ(Belongs(), reads) << value;
  }
  for (const auto& [value, reads] : {std::pair("true", true), {"false", false}}) {
    AddSchedule(value, BP_PARAM_BOOL, "true");
    EXPECT_EQ(Belongs(), reads) << value;
  }
  AddSchedule("3", BP_PARAM_I64, "*");
  EXPECT_TRUE(Belongs());
}

TEST_F(BudgetInIdentity, AKeptScheduleHasTheIdOfItsFirstBudget) {
  AddSchedule("\"linear\"", BP_PARAM_ENUM, "linear");
  const std::string before = PointId();
  EXPECT_EQ(PlaceOfBudget(loaded_, {}, {}), BudgetPlace::kRead);
  loaded_.experiment.schedule_budget = {
      {"iterations", 2}, {"env_steps", 100}, {"episodes", 7}, {"epochs", 1}, {"wall_time_s", 9.0}};
  EXPECT_EQ(PlaceOfBudget(loaded_, {}, {}), BudgetPlace::kSchedule);
  EXPECT_EQ(PointId(), before);
  EXPECT_FALSE(Belongs());
  loaded_.experiment.schedule_budget["iterations"] = 3;
  EXPECT_NE(PointId(), before);
}

// Warm-up and precision decide which iterations run. Other kinds of experiments keep their identity.
TEST_F(IdentityTest, IncludesWarmUpAndPrecisionIfSpeedIsMeasured) {
  loaded_.experiment.report.kind = "comparison";
  EXPECT_FALSE(PointIdentity(loaded_, {}).contains("budget"));
  const std::string before = Id();
  loaded_.experiment.report.kind.reset();
  EXPECT_EQ(before, Id());
  loaded_.experiment.report.kind = "parallel_efficiency";
  const std::string warm = Id();
  EXPECT_NE(before, warm);
  loaded_.experiment.report.max_time_s = 20;
  EXPECT_EQ(warm, Id()) << "it has no effect without a precision";
  loaded_.experiment.report.precision_pct = 5;
  const std::string five = Id();
  EXPECT_NE(warm, five);
  loaded_.experiment.report.max_time_s = 30;
  EXPECT_NE(five, Id());
  loaded_.seeds = 3;
  loaded_.experiment.report.max_time_s = 20;
  EXPECT_EQ(five, Id()) << "more seeds keep existing trials";
}

TEST_F(IdentityTest, SeedOptionsAndRowsChangeIt) {
  const std::string before = Id();
  loaded_.experiment.seed = 1;
  const std::string seeded = Id();
  EXPECT_NE(before, seeded);
  loaded_.experiment.learner.options["lr"] = 0.2;
  const std::string tuned = Id();
  EXPECT_NE(seeded, tuned);
  loaded_.experiment.rollout.num_env_runners = 2;
  EXPECT_NE(tuned, Id());
}

TEST_F(IdentityTest, ExplicitDefaultOfChunkRowsChangesNothing) {
  loaded_.experiment.rollout.num_envs_per_env_runner = 64;
  const std::string before = Id();
  loaded_.experiment.rollout.chunk_rows = 16;
  EXPECT_EQ(before, Id());
  loaded_.experiment.rollout.chunk_rows = 8;
  EXPECT_NE(before, Id());
}

TEST_F(IdentityTest, LeavesOutTheDefaultCapOfAnEpisode) {
  EXPECT_THAT(CanonicalText(PointIdentity(loaded_, {})), testing::Not(testing::HasSubstr("max_episode_steps")));
  const std::string before = Id();
  loaded_.experiment.evaluation.max_episode_steps = 100'000;
  EXPECT_EQ(before, Id());
  loaded_.experiment.evaluation.max_episode_steps = 500;
  EXPECT_NE(before, Id());
}

TEST_F(IdentityTest, ContentOfFilesChangesTheTrialButNotThePoint) {
  const std::string before = Id(), point = PointId();
  std::ofstream(loaded_.env->file) << "rebuilt";
  const std::string rebuilt = Id();
  EXPECT_NE(before, rebuilt);
  EXPECT_EQ(point, PointId());
  OptionInfo data;
  data.path = "corpus";
  data.type = BP_PARAM_PATH;
  data.flags = BP_PARAM_DATA;
  auto env = std::make_shared<PluginInfo>(*loaded_.env);
  env->options = {data};
  loaded_.env = env;
  loaded_.experiment.env.options["corpus"] = (folder_ / "data.txt").string();
  std::ofstream(folder_ / "data.txt") << "one";
  const std::string with_data = Id();
  std::ofstream(folder_ / "data.txt") << "two";
  EXPECT_NE(with_data, Id());
  EXPECT_TRUE(FileHashes().Of(loaded_).contains("env.options.corpus"));
}

TEST_F(IdentityTest, IncludesNamesAndContentsOfADataFolder) {
  OptionInfo data;
  data.path = "model";
  data.type = BP_PARAM_PATH;
  data.flags = BP_PARAM_DATA;
  auto learner = std::make_shared<PluginInfo>(*loaded_.learner);
  learner->options = {data};
  loaded_.learner = learner;
  loaded_.experiment.learner.options["model"] = "";
  EXPECT_FALSE(FileHashes().Of(loaded_).contains("learner.options.model"));
  const std::filesystem::path model = folder_ / "model";
  std::filesystem::create_directories(model / "logs");
  loaded_.experiment.learner.options["model"] = model.string();
  auto changed = [&, before = Id()](const char* file, const char* text) mutable {
    std::ofstream(model / file) << text;
    return std::exchange(before, Id()) != Id();
  };
  EXPECT_TRUE(changed("config.json", "{}"));
  EXPECT_TRUE(changed("weights", "1"));
  EXPECT_TRUE(changed("weights", "2"));
  EXPECT_FALSE(changed("weights", "2"));
  EXPECT_FALSE(changed("logs/today", "started"));
  const std::string before = Id();
  std::filesystem::rename(model / "weights", model / "weights.old");
  EXPECT_NE(Id(), before);
}

TEST_F(IdentityTest, ThePointOmitsTheSeed) {
  const std::string before = PointId();
  loaded_.experiment.seed = 1;
  EXPECT_EQ(before, PointId());
}

TEST_F(IdentityTest, TheKindOfDeviceChangesIt) {
  const std::string cpu = Id();
  loaded_.experiment.resources.gpus = 0.5;
  const std::string half = Id();
  EXPECT_NE(cpu, half);
  loaded_.experiment.resources.gpus = 2;
  EXPECT_EQ(half, Id());
}

TEST_F(IdentityTest, IncludesOmittedKeysOnceTheyAreSwept) {
  EXPECT_NE(Id(), Id({{"rollout.threads", 2}}));
  EXPECT_NE(Id({{"rollout.threads", 1}}), Id({{"rollout.threads", 2}}));
  EXPECT_EQ(Id(), Id({{"env.plugin", "toy"}}));              // an id adds nothing to the identity
  EXPECT_NE(Id(), Id({{"env.plugin", "/old/env_toy.so"}}));  // two builds of one plugin, compared
}

TEST_F(IdentityTest, FindsOmittedKeysAtAboveAndBelowAPath) {
  using Keys = std::set<std::string>;
  EXPECT_EQ(LeftOutKeys("learner.options.lr"), Keys());
  EXPECT_EQ(LeftOutKeys("rollout.num_env_runners"), Keys());
  EXPECT_EQ(LeftOutKeys("rollout"), (Keys{"rollout.threads", "rollout.pin_threads", "rollout.workers"}));
  EXPECT_EQ(LeftOutKeys("monitors.0.options.period"), Keys{"monitors"});
  EXPECT_EQ(LeftOutKeys("resources.cpus"), Keys{"resources.cpus"});
  EXPECT_EQ(LeftOutKeys("learner"), (Keys{"learner.plugin", "learner.python"}));
}

TEST(Sha256, KnownAnswer) { EXPECT_EQ("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", Sha256("abc")); }

}  // namespace
}  // namespace backplane
