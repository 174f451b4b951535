// Cases that run before the first trial with a plugin file.
#include <sys/resource.h>

#include <algorithm>
#include <set>
#include <vector>

#include "places.hpp"
#include "validate/fast_cases.hpp"
#include "validated.hpp"

namespace backplane {
namespace {

using test_support::Validated;

constexpr char kFlawedFile[] = BACKPLANE_BINARY_DIR "/tests/fixtures/plugins/env_flawed.so";

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kSlow = true;
#else
constexpr bool kSlow = false;
#endif

std::set<std::string> BrokenBy(const char* id, const char* flaw) {
  Validated plugin(kFlawedFile, id);
  Validated env(kFlawedFile, "env.flawed");
  plugin.Give("flaw", flaw);
  if (plugin.info().kind == BP_KIND_LEARNER) {
    plugin.setting.env = &env.info();
    plugin.setting.env_options = env.setting.options;
  }
  std::set<std::string> names;
  for (const CaseResult& result : RunFastCases(plugin.info(), plugin.setting)) {
    if (!result.bad()) continue;
    names.insert(result.name);
    EXPECT_NE(result.mend, "") << result.name;
  }
  return names;
}

double ChildCpu_ms() {
  rusage used{};
  getrusage(RUSAGE_CHILDREN, &used);
  return 1e3 * static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         1e-3 * static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

TEST(FastCases, FindFaultsThatTrialsDoNotReport) {
  if (kSlow) GTEST_SKIP() << "there is time for few cases under a sanitizer";
  const auto finds = [](const char* id, const char* flaw, const char* by) {
    EXPECT_TRUE(BrokenBy(id, flaw).contains(by)) << id << " " << flaw;
  };
  finds("env.flawed", "obs_unwritten", "writes-every-output");
  finds("env.flawed", "reward_unwritten", "writes-every-output");
  finds("env.flawed", "info_unwritten", "writes-every-output");
  finds("env.flawed", "past_shape", "stays-in-its-buffers");
  EXPECT_FALSE(BrokenBy("env.flawed", "far_past").empty());  // found by the first case with a guard at that place
  finds("env.flawed", "crashes", "stays-in-its-buffers");
  finds("env.flawed", "per_agent", "stays-in-its-buffers");
  finds("env.flawed", "all_rows", "writes-only-its-rows");
  finds("env.flawed", "ignores_strides", "uses-strides");
  finds("env.flawed", "rand", "same-seed-same-bytes");
  finds("env.flawed", "static_state", "instances-share-nothing");
  finds("env.flawed", "sums_rows", "rows-are-independent");
  finds("learner.flawed", "act_next_row", "act-writes-its-rows");
  finds("learner.flawed", "act_rand", "act-repeats");
  finds("learner.flawed", "act_reads_all", "act-reads-its-rows");
}

TEST(FastCases, FindWrongDeclarationsOfAFile) {
  const auto broken = [](const char* name) {
    const Validated plugin(BACKPLANE_BINARY_DIR "/tests/fixtures/plugins/monitor_" + std::string(name) + ".so", "");
    const std::vector<CaseResult> results = RunFastCases(plugin.info(), plugin.setting);
    const auto bad = std::ranges::find_if(results, [](const CaseResult& result) { return result.bad(); });
    return bad == results.end() ? "" : bad->name;
  };
  EXPECT_EQ(broken("option_twice"), "options-once");
  EXPECT_EQ(broken("range_malformed"), "ranges");
  EXPECT_EQ(broken("says_another"), "section-is-true");
  EXPECT_EQ(broken("does_nothing"), "");
}

TEST(FastCases, FindNoFaultInGoodPluginsWithinAMoment) {
  for (const char* id : {"env.flawed", "learner.flawed", "monitor.flawed"}) {
    const double before = ChildCpu_ms();
    EXPECT_EQ(BrokenBy(id, "none"), std::set<std::string>()) << id;
    // Includes the process, the loading and the creation.
    EXPECT_TRUE(kSlow || ChildCpu_ms() - before < 75) << id << " " << ChildCpu_ms() - before;
  }
}

TEST(FastCases, FollowTheListOfRules) {
  std::vector<std::string> fast, listed;
  for (const Case& one : AllCases())
    if (one.fast) fast.emplace_back(one.name);
  for (const FastRule& rule : kFastRules) listed.emplace_back(rule.name);
  EXPECT_EQ(fast, listed);
}

// The trial or the check reports why.
TEST(FastCases, SkipPluginsThatCannotBeCreated) {
  for (const char* flaw : {"throws_in_create", "wrong_dtype"}) EXPECT_EQ(BrokenBy("env.flawed", flaw), std::set<std::string>());
}

}  // namespace
}  // namespace backplane
