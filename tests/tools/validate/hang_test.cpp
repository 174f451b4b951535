// A function that does not return: the case ends at its limit and names the function, and no later case waits for it.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <tuple>

#include "base/scratch_folder.hpp"
#include "places.hpp"
#include "rollout/clocks.hpp"
#include "validate/case_process.hpp"
#include "validate/doing.hpp"
#include "validate/fast_cases.hpp"
#include "validated.hpp"

namespace backplane {
namespace {

using test_support::Validated;

constexpr char kHangingFile[] = BACKPLANE_BINARY_DIR "/tests/fixtures/plugins/env_flawed.so";
constexpr const char *kEnvId = "env.flawed", *kLearnerId = "learner.flawed", *kMonitorId = "monitor.flawed";
constexpr double kPatience = 1;

struct Hang {
  const char *id, *where, *found_by;
  PluginCall call;
};
void PrintTo(const Hang& hang, std::ostream* out) { *out << hang.id << " " << hang.where; }

const Hang kHangs[] = {
    {kEnvId, "create", "create", PluginCall::kCreate},
    {kEnvId, "spec", "create", PluginCall::kSpec},
    {kEnvId, "destroy", "create", PluginCall::kDestroy},
    {kEnvId, "bind", "finite-numbers", PluginCall::kBind},
    {kEnvId, "reset", "finite-numbers", PluginCall::kReset},
    {kEnvId, "step", "finite-numbers", PluginCall::kStep},
    {kEnvId, "step", "two-threads", PluginCall::kStep},
    {kLearnerId, "create", "create", PluginCall::kCreate},
    {kLearnerId, "spec", "create", PluginCall::kSpec},
    {kLearnerId, "destroy", "create", PluginCall::kDestroy},
    {kLearnerId, "plan", "learns", PluginCall::kPlan},
    {kLearnerId, "consume", "learns", PluginCall::kConsume},
    {kLearnerId, "act", "act-repeats", PluginCall::kAct},
    {kLearnerId, "save", "state-comes-back", PluginCall::kSave},
    {kLearnerId, "load", "state-comes-back", PluginCall::kLoad},
    {kLearnerId, "tensors", "names-its-tensors", PluginCall::kTensors},
    {kLearnerId, "get_extension", "unknown-ids", PluginCall::kGetExtension},
    {kMonitorId, "create", "create", PluginCall::kCreate},
    {kMonitorId, "destroy", "create", PluginCall::kDestroy},
    {kMonitorId, "interests", "interests", PluginCall::kInterests},
    {kMonitorId, "on_events", "takes-a-storm", PluginCall::kOnEvents},
    {kMonitorId, "sample", "answers-soon", PluginCall::kSample},
    {kMonitorId, "finish", "finish-twice", PluginCall::kFinish},
};

class Hangs : public testing::TestWithParam<std::tuple<Hang, const char*>> {
 protected:
  const Hang& hang() const { return std::get<0>(GetParam()); }
  Validated Hanging() const {
    Validated plugin(kHangingFile, hang().id);
    plugin.Give("flaw", std::string(std::get<1>(GetParam())) + "_in_" + hang().where);
    return plugin;
  }
};

TEST_P(Hangs, NamesTheFunction) {
  const CaseResult result = Hanging().Run(hang().found_by, kPatience);
  EXPECT_EQ(result.verdict, CaseVerdict::kFailed) << result.place << " " << result.found;
  EXPECT_EQ(result.stuck, CallSet{hang().call}) << Word(result.stuck.First());
  EXPECT_EQ(result.wanted, "an end within 1 s");
  EXPECT_EQ(result.found, std::string("no return from ") + hang().where);
  EXPECT_EQ(result.place.find(hang().where), 0u) << result.place;
}

std::string HangName(const testing::TestParamInfo<std::tuple<Hang, const char*>>& tested) {
  const auto& [hang, how] = tested.param;
  std::string name = std::string(hang.id) + "_" + how + "_" + hang.where + "_" + hang.found_by;
  std::ranges::replace_if(
      name, [](char c) { return c == '.' || c == '-'; }, '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(Functions, Hangs, testing::Combine(testing::ValuesIn(kHangs), testing::Values("spins", "waits")),
                         HangName);
INSTANTIATE_TEST_SUITE_P(Polls, Hangs, testing::Combine(testing::Values(kHangs[5], kHangs[12]), testing::Values("naps")),
                         HangName);

// No option is known before an instance is created, nor after the last is destroyed.
TEST(HangsOfTheFile, AreNamed) {
  const Validated plugin(kHangingFile, kEnvId);
  const auto hangs = [&](const char* flaw, const char* found_by, PluginCall call) {
    setenv("FLAWED_FILE", flaw, 1);
    const CaseResult result = plugin.Run(found_by, kPatience);
    unsetenv("FLAWED_FILE");
    EXPECT_EQ(result.stuck, CallSet{call}) << flaw << ": " << result.place << " " << result.found;
  };
  hangs("waits_in_loading", "loads-quietly", PluginCall::kLoading);
  hangs("spins_in_loading", "section-is-true", PluginCall::kLoading);
  hangs("waits_in_exit", "ends-quietly", PluginCall::kExit);
}

// The learner's env hangs, which is no fault of the learner's functions.
TEST(HangsOfTheEnv, AreNotTheLearners) {
  Validated learner(kHangingFile, kLearnerId), env(kHangingFile, kEnvId);
  env.Give("flaw", "waits_in_step");
  learner.setting.env = &env.info();
  learner.setting.env_options = env.setting.options;
  const CaseResult result = learner.Run("learns", kPatience);
  EXPECT_EQ(result.stuck, CallSet{PluginCall::kEnvOfLearner}) << result.place << " " << result.found;
  EXPECT_EQ(result.place, "the env");
}

// A plugin that keeps entering its functions is only slow: more time helps.
TEST(SlowPlugins, AreNotStuck) {
  const auto returns = [](int) {
    for (;;) {
      const InCall step(PluginCall::kStep);
      usleep(10'000);
    }
  };
  const EndedProcess slow = RunProcess(returns, {kPatience, {}});
  EXPECT_TRUE(slow.late);
  EXPECT_TRUE(slow.stuck.empty()) << Word(slow.stuck.First());
  const auto waits = [](int) {
    for (;;) pause();
  };
  const EndedProcess outside = RunProcess(waits, {kPatience, {}});
  EXPECT_TRUE(outside.late);
  EXPECT_EQ(outside.stuck, CallSet{PluginCall::kOutside});
}

TEST(CasesAfterAHang, AreThoseThatDoNotCallTheFunction) {
  const auto stuck_in = [](const char* name, CallSet stuck) { return StuckIn(*FindCase(name), stuck); };
  EXPECT_EQ(stuck_in("finite-numbers", {PluginCall::kStep}), PluginCall::kStep);
  EXPECT_EQ(stuck_in("create", {PluginCall::kStep}), std::nullopt);
  EXPECT_EQ(stuck_in("options-once", {PluginCall::kCreate, PluginCall::kLoading, PluginCall::kOutside}), std::nullopt);
  EXPECT_EQ(stuck_in("loads-quietly", {PluginCall::kOutside}), PluginCall::kOutside);
  EXPECT_EQ(stuck_in("learns", {PluginCall::kSave}), std::nullopt);
  EXPECT_EQ(stuck_in("state-continues", {PluginCall::kLoad}), PluginCall::kLoad);
}

// Otherwise a case would hit the same hang again.
void NeedDeclared(const Validated& plugin) {
  for (const Case& one : AllCases()) {
    if (!one.Is(plugin.info().kind)) continue;
    const CaseResult result = plugin.Run(one.name);
    const CallSet undeclared = ShareDoing()->Called().Without(one.calls);
    EXPECT_TRUE(undeclared.empty()) << plugin.info().id << ", " << one.name << " (" << Word(result.verdict) << ") calls "
                                    << Word(undeclared.First());
  }
}

TEST(CalledFunctions, AreDeclaredByTheirCases) {
  for (const char* id : {kEnvId, kLearnerId, kMonitorId}) NeedDeclared(Validated(kHangingFile, id));
}

TEST(CalledFunctions, AreDeclaredForDataLearners) {
  Validated learner(kHangingFile, kLearnerId);
  learner.Give("flaw", "data_without");
  NeedDeclared(learner);
}

TEST(CalledFunctions, AreDeclaredForShippedEnvs) {
  for (const char* name : {"env_cartpole", "env_ant"})
    if (const std::string file = std::string(BACKPLANE_BINARY_DIR "/lib/backplane/plugins/") + name + ".so";
        std::filesystem::exists(file))
      NeedDeclared(Validated(file, ""));
}

TEST(FastCasesOfAHang, LeaveTheFileUnvalidated) {
  Validated plugin(kHangingFile, kEnvId);
  plugin.Give("flaw", "waits_in_step");
  bool complete = true;
  const int64_t begin = NowNs();
  for (const CaseResult& result : RunFastCases(plugin.info(), plugin.setting, &complete))
    EXPECT_FALSE(result.bad()) << result.name;
  EXPECT_FALSE(complete);
  EXPECT_LT(NowNs() - begin, 30'000'000'000) << "its limit of 3 s, and twice that, with time to spare";
  plugin.Give("flaw", "none");
  RunFastCases(plugin.info(), plugin.setting, &complete);
  EXPECT_TRUE(complete);
}

volatile sig_atomic_t g_heard = 0;

TEST(FastCasesOfAHang, EndAtASignalAndPassItOn) {
  Validated plugin(kHangingFile, kEnvId);
  plugin.Give("flaw", "waits_in_create");
  g_heard = 0;
  struct sigaction hear {
  }, before{};
  hear.sa_handler = [](int signal) { g_heard = signal; };
  sigaction(SIGTERM, &hear, &before);
  const pid_t sender = fork();
  if (sender == 0) {
    usleep(500'000);
    kill(getppid(), SIGTERM);
    _exit(0);
  }
  bool complete = true;
  EXPECT_TRUE(RunFastCases(plugin.info(), plugin.setting, &complete).empty());
  waitpid(sender, nullptr, 0);
  sigaction(SIGTERM, &before, nullptr);
  EXPECT_EQ(g_heard, SIGTERM);
  EXPECT_FALSE(complete);
  EXPECT_TRUE(StoppedBySignal());
}

}  // namespace
}  // namespace backplane
