#include "plugin/seal.hpp"

#include <gmock/gmock.h>

#include <csignal>

#include "fixture.hpp"
#include "plugin/metadata.hpp"

namespace backplane {
namespace {

using testing::HasSubstr;

std::string NotSealed(const std::string& stem) {
  const TempFolder folder;
  const std::filesystem::path file = folder.Copy(stem);
  return SentenceOf([&] { Seal(file); });
}

TEST(Seal, MakesAnUnsealedFileReadable) {
  const TempFolder folder;
  const std::filesystem::path file = folder.Copy("env_unsealed");
  Seal(file);
  EXPECT_EQ(ReadPlugins(file)[0].id, "env.unsealed");
}

TEST(Seal, TwiceGivesTheSameBytes) {
  const TempFolder folder;
  const std::filesystem::path file = folder.Copy("env_unsealed");
  Seal(file);
  const std::string once = Metadata(file);
  Seal(file);
  EXPECT_EQ(Metadata(file), once);
}

TEST(Seal, AsksTheCheckBeforeItWrites) {
  const TempFolder folder;
  const std::filesystem::path file = folder.Copy("env_unsealed");
  const std::string before = Metadata(file);
  EXPECT_EQ(SentenceOf([&] { Seal(file, [](const PluginInfo& plugin) { throw PluginError(plugin.id + " is not wanted"); }); }),
            file.string() + ": env.unsealed is not wanted");
  EXPECT_EQ(Metadata(file), before);
}

TEST(Seal, ReportsACrashOfThePlugin) { EXPECT_THAT(NotSealed("env_crashes_when_asked"), HasSubstr("crashed (Aborted)")); }

TEST(Seal, ReportsAPluginThatEndsTheProcess) { EXPECT_THAT(NotSealed("env_exits_when_asked"), HasSubstr("exit code 3")); }

// Like a build whose parent ignores SIGCHLD.
TEST(Seal, ReportsACrashIfEndsOfChildrenAreIgnored) {
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  EXPECT_THAT(NotSealed("env_crashes_when_asked"), HasSubstr("the outcome of sealing is unknown"));
  std::signal(SIGCHLD, before);
}

TEST(Seal, RejectsMoreTextThanTheSectionHolds) {
  EXPECT_THAT(NotSealed("env_too_much_text"), HasSubstr("description is too long"));
}

TEST(Seal, RejectsALibraryWithoutTheSection) {
  EXPECT_THAT(NotSealed("env_no_entry"), HasSubstr("expected a section .bp.meta"));
}

TEST(Seal, RejectsATextFile) { EXPECT_THAT(NotSealed("env_text"), HasSubstr("is not an ELF file")); }

}  // namespace
}  // namespace backplane
