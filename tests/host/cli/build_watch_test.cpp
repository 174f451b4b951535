// A build is used only when it is complete.
#include "cli/build_watch.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <thread>

#include "base/files.hpp"
#include "places.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;

constexpr char kFixtures[] = BACKPLANE_BINARY_DIR "/tests/fixtures/plugins/";

class BuildWatchTest : public testing::Test {
 protected:
  BuildWatchTest() {
    fs::create_directories(folder_ / "built");
    Write("experiment.yaml", "env: good\n");
    Write("built/model.xml", "<model/>");
  }
  ~BuildWatchTest() override { fs::remove_all(folder_); }

  void Write(const std::string& name, const std::string& bytes) const { std::ofstream(folder_ / name) << bytes; }
  static std::string Good() { return *ReadFile(std::string(kFixtures) + "env_good.so"); }
  // Returns the build that appears within three times the quiet time of a file.
  std::optional<Build> Next() {
    const double until_s = BuildWatch::Now_s() + 3 * BuildWatch::kQuiet_s;
    std::optional<Build> build;
    while (!build && BuildWatch::Now_s() < until_s) {
      build = watch_.Look();
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return build;
  }

  const fs::path folder_ = fs::path(testing::TempDir()) / ("build_watch_" + std::to_string(getpid()));
  BuildWatch watch_{folder_ / "built/env_good.so", folder_ / "experiment.yaml", folder_ / "scratch"};
};

TEST_F(BuildWatchTest, CopiesEachBuildOnceWithItsNeighbours) {
  Write("built/env_good.so", Good());
  const std::optional<Build> first = Next();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->number, 1u);
  ASSERT_EQ(first->plugins.size(), 1u);
  EXPECT_EQ(first->plugins[0].id, "env.good");
  EXPECT_EQ(first->plugins[0].file, first->folder / "env_good.so");
  EXPECT_EQ(ReadFile(first->folder / "model.xml"), "<model/>");
  EXPECT_FALSE(Next());
  Write("built/env_good.so", Good() + "longer");
  const std::optional<Build> second = Next();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->number, 2u);
  EXPECT_EQ(ReadFile(first->folder / "env_good.so"), Good());
}

TEST_F(BuildWatchTest, WaitsForIncompleteFiles) {
  EXPECT_FALSE(Next());
  for (const std::string& bytes : {Good().substr(0, Good().size() / 2), Good().substr(0, Good().size() - 1),
                                   *ReadFile(std::string(kFixtures) + "env_unsealed.so")}) {
    Write("built/env_good.so", bytes);
    EXPECT_FALSE(Next()) << bytes.size();
  }
  Write("built/env_good.so", Good());
  const std::optional<Build> build = Next();
  ASSERT_TRUE(build);
  EXPECT_EQ(build->number, 1u);
}

TEST_F(BuildWatchTest, AChangeOfTheExperimentIsABuildToo) {
  Write("built/env_good.so", Good());
  ASSERT_TRUE(Next());
  Write("experiment.yaml", "env: good\nseed: 1\n");
  EXPECT_TRUE(Next());
}

TEST_F(BuildWatchTest, ReportsOnceWhyAFileIsNoPlugin) {
  Write("built/env_good.so", *ReadFile(std::string(kFixtures) + "env_unsealed.so"));
  ASSERT_FALSE(Next());
  EXPECT_FALSE(watch_.WhyNot());
  std::this_thread::sleep_for(std::chrono::duration<double>(BuildWatch::kPatience_s - 2 * BuildWatch::kQuiet_s));
  const std::optional<std::string> why_not = watch_.WhyNot();
  ASSERT_TRUE(why_not);
  EXPECT_TRUE(why_not->starts_with((folder_ / "built/env_good.so").string() + ": is not sealed")) << *why_not;
  EXPECT_FALSE(watch_.WhyNot());
}

}  // namespace
}  // namespace backplane
