// Records of plugin files that passed validation.
#include "plugin/validated_files.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <ctime>
#include <fstream>
#include <thread>
#include <vector>

#include "places.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;

constexpr char kFlawedFile[] = BACKPLANE_BINARY_DIR "/tests/fixtures/plugins/env_flawed.so";

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kSlow = true;
#else
constexpr bool kSlow = false;
#endif

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

TEST_F(ValidatedFilesTest, RecognizeTheContentInAnyFolder) {
  const fs::path file = Write("a.so", "one");
  EXPECT_FALSE(files_.Has(file, "env.a"));
  files_.Add(files_.EntryOf(file, "env.a"));
  EXPECT_TRUE(files_.Has(file, "env.a"));
  EXPECT_TRUE(files_.Has(Write("b.so", "one"), "env.a"));
  EXPECT_FALSE(files_.Has(file, "env.b"));
  Write("a.so", "two");
  EXPECT_FALSE(files_.Has(file, "env.a"));
}

// A file that was just written might change without a new time stamp.
TEST_F(ValidatedFilesTest, FindSettledFileByItsLook) {
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

TEST_F(ValidatedFilesTest, AreFoundQuickly) {
  files_.Add(files_.EntryOf(kFlawedFile, "env.flawed"));
  ASSERT_TRUE(files_.Has(kFlawedFile, "env.flawed"));
  constexpr int kTimes = 100;
  const std::clock_t begin = std::clock();
  for (int i = 0; i < kTimes; ++i) EXPECT_TRUE(files_.Has(kFlawedFile, "env.flawed"));
  const double each_ms = static_cast<double>(std::clock() - begin) * 1e3 / CLOCKS_PER_SEC / kTimes;
  RecordProperty("each_us", fmt::format("{:.1f}", each_ms * 1e3));
  EXPECT_TRUE(kSlow || each_ms < 0.5) << each_ms;
}

TEST_F(ValidatedFilesTest, TolerateAnUnusableFolder) {
  const fs::path file = Write("a.so", "one");
  for (const fs::path& folder : {fs::path("/proc/no/such/folder"), file / "below", fs::path()}) {
    const ValidatedFiles files(folder);
    files.Add(files.EntryOf(file, "env.a"));
    EXPECT_FALSE(files.Has(file, "env.a"));
  }
  files_.Add(files_.EntryOf(folder_ / "absent.so", "env.a"));
  EXPECT_FALSE(files_.Has(folder_ / "absent.so", "env.a"));
}

TEST_F(ValidatedFilesTest, AcceptManyWriters) {
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
