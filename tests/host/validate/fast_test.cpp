// What is tried of a plugin file before its first trial, and what is known of it afterwards.
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <thread>
#include <vector>

#include "places.hpp"
#include "rollout/clocks.hpp"
#include "validate/fast_cases.hpp"
#include "validated.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;
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

TEST(FastCases, FindWhatEndsCompletedWithoutAWord) {
  if (kSlow) GTEST_SKIP() << "there is time for few cases under a sanitizer";
  const auto finds = [](const char* id, const char* flaw, const char* by) {
    EXPECT_TRUE(BrokenBy(id, flaw).contains(by)) << id << " " << flaw;
  };
  finds("env.flawed", "obs_unwritten", "writes-every-output");
  finds("env.flawed", "reward_unwritten", "writes-every-output");
  finds("env.flawed", "info_unwritten", "writes-every-output");
  finds("env.flawed", "past_shape", "stays-in-its-buffers");
  EXPECT_FALSE(BrokenBy("env.flawed", "far_past").empty());  // by whichever first has a guard where it writes
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

TEST(FastCases, FindWhatAFileDeclaresWrongly) {
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

TEST(FastCases, FindNothingInWhatIsGoodAndTakeAMoment) {
  for (const char* id : {"env.flawed", "learner.flawed", "monitor.flawed"}) {
    const double before = ChildCpu_ms();
    EXPECT_EQ(BrokenBy(id, "none"), std::set<std::string>()) << id;
    // With the process, the loading and the making.
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

// It is the trial's business, or the check's, which say why.
TEST(FastCases, LeaveAloneWhatCannotBeMade) {
  for (const char* flaw : {"throws_in_create", "wrong_dtype"}) EXPECT_EQ(BrokenBy("env.flawed", flaw), std::set<std::string>());
}

class ValidatedFilesTest : public testing::Test {
 protected:
  ValidatedFilesTest() { fs::create_directories(folder_); }
  ~ValidatedFilesTest() override { fs::remove_all(folder_); }
  fs::path Write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  const fs::path folder_ = fs::path(testing::TempDir()) / fmt::format("validated_files_{}", getpid());
  const ValidatedFiles files_{folder_ / "cache"};
};

TEST_F(ValidatedFilesTest, KnowTheContentWhereverItLies) {
  const fs::path file = Write("a.so", "one");
  EXPECT_FALSE(files_.Has(file, "env.a"));
  files_.Add(files_.EntryOf(file, "env.a"));
  EXPECT_TRUE(files_.Has(file, "env.a"));
  EXPECT_TRUE(files_.Has(Write("b.so", "one"), "env.a"));
  EXPECT_FALSE(files_.Has(file, "env.b"));
  Write("a.so", "two");
  EXPECT_FALSE(files_.Has(file, "env.a"));
}

// One that has just been written might change without another time.
TEST_F(ValidatedFilesTest, KnowAFileByItsLookThatNobodyHasTouchedForAWhile) {
  const auto known_by_look = [&](const fs::path& file) {
    const std::string entry = files_.EntryOf(file, "env.a");
    files_.Add(entry);
    EXPECT_TRUE(files_.Has(file, "env.a"));
    fs::remove(folder_ / "cache" / entry);
    return files_.Has(file, "env.a");
  };
  EXPECT_TRUE(known_by_look(kFlawedFile));
  EXPECT_FALSE(known_by_look(Write("a.so", "one")));
}

TEST_F(ValidatedFilesTest, TellInNoTime) {
  files_.Add(files_.EntryOf(kFlawedFile, "env.flawed"));
  ASSERT_TRUE(files_.Has(kFlawedFile, "env.flawed"));
  constexpr int kTimes = 100;
  const int64_t begin = ThreadCpuNs();
  for (int i = 0; i < kTimes; ++i) EXPECT_TRUE(files_.Has(kFlawedFile, "env.flawed"));
  const double each_ms = static_cast<double>(ThreadCpuNs() - begin) * 1e-6 / kTimes;
  RecordProperty("each_us", fmt::format("{:.1f}", each_ms * 1e3));
  EXPECT_TRUE(kSlow || each_ms < 0.5) << each_ms;
}

TEST_F(ValidatedFilesTest, BearAFolderThatCannotBe) {
  const fs::path file = Write("a.so", "one");
  for (const fs::path& folder : {fs::path("/proc/no/such/folder"), file / "below", fs::path()}) {
    const ValidatedFiles files(folder);
    files.Add(files.EntryOf(file, "env.a"));
    EXPECT_FALSE(files.Has(file, "env.a"));
  }
  files_.Add(files_.EntryOf(folder_ / "absent.so", "env.a"));
  EXPECT_FALSE(files_.Has(folder_ / "absent.so", "env.a"));
}

TEST_F(ValidatedFilesTest, AreWrittenByManyAtOnce) {
  const fs::path file = Write("a.so", "one");
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&, i] {
      for (int k = 0; k < 20; ++k) files_.Add(files_.EntryOf(file, fmt::format("env.{}_{}", k, i % 2)));
    });
  for (std::thread& thread : threads) thread.join();
  for (int k = 0; k < 20; ++k) EXPECT_TRUE(files_.Has(file, fmt::format("env.{}_1", k)));
}

}  // namespace
}  // namespace backplane
