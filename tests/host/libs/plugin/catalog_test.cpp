#include "plugin/catalog.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "fixture.hpp"

namespace backplane {
namespace {

using testing::HasSubstr;

TEST(Catalog, ListsPluginsAndRejectedFilesWithoutLoadingAny) {
  Catalog catalog;
  catalog.AddFolder(Fixture("env_good").parent_path());
  catalog.AddFolder("/nowhere");
  std::string why_not;
  const PluginInfo* good = catalog.Find(BP_KIND_ENV, "good", &why_not);
  ASSERT_NE(good, nullptr) << why_not;
  EXPECT_EQ(good->file, Fixture("env_good"));
  EXPECT_GE(catalog.refusals().size(), 5u);
}

TEST(Catalog, SuggestsTheNearestName) {
  Catalog catalog;
  catalog.AddFolder(Fixture("env_good").parent_path());
  std::string why_not;
  const std::string where = " (searched: " + Fixture("env_good").parent_path().string() + "; --plugin-path adds a folder)";
  EXPECT_EQ(catalog.Find(BP_KIND_ENV, "goood", &why_not), nullptr);
  EXPECT_EQ(why_not, "there is no env 'goood'; did you mean 'good'?" + where + "\nhint: env: good");
  EXPECT_EQ(catalog.Find(BP_KIND_MONITOR, "good", &why_not), nullptr);
  EXPECT_EQ(why_not, "there is no monitor 'good'; the plugin 'good' is of kind env" + where);
  EXPECT_EQ(catalog.Find(BP_KIND_MONITOR, "tableware", &why_not), nullptr);
  EXPECT_THAT(why_not, testing::AllOf(testing::StartsWith("there is no monitor 'tableware'; installed: alias_twice, "),
                                      HasSubstr(where + "; see docs/plugins.md\nhint: monitors: [")));
  catalog.AddFolder("/nowhere");
  EXPECT_EQ(catalog.Find(BP_KIND_ENV, "goood", &why_not), nullptr);
  EXPECT_THAT(why_not, HasSubstr("/nowhere (missing); --plugin-path adds a folder)"));
  EXPECT_EQ(Catalog().Find(BP_KIND_MONITOR, "good", &why_not), nullptr);
  EXPECT_EQ(why_not, "there is no monitor 'good'; no monitor is installed (searched: no folder; --plugin-path adds a folder)");
}

TEST(Catalog, GivesTheReasonForARejectedName) {
  Catalog catalog;
  catalog.AddFolder(Fixture("env_good").parent_path());
  std::string why_not;
  EXPECT_EQ(catalog.Find(BP_KIND_ENV, "unsealed", &why_not), nullptr);
  EXPECT_THAT(why_not, HasSubstr("is not sealed"));
}

TEST(Catalog, AcceptsAPathToAFile) {
  Catalog catalog;
  std::string why_not;
  EXPECT_NE(catalog.Find(BP_KIND_ENV, Fixture("env_good"), &why_not), nullptr);
  EXPECT_EQ(catalog.Find(BP_KIND_LEARNER, Fixture("env_good"), &why_not), nullptr);
  EXPECT_THAT(why_not, HasSubstr("contains no learner"));
}

TEST(Catalog, DistinguishesAPathFromAnIdOfAnotherLibrary) {
  const std::string file = Fixture("env_good");
  for (const char* path : {"./env-v5", "../env-v5", "/opt/env-v5", "folder/env", "folder/env-v", "env.so"})
    EXPECT_TRUE(IsPluginPath(path, "/nowhere")) << path;
  EXPECT_TRUE(IsPluginPath("ALE/Breakout-v5", file));
  for (const char* id : {"ALE/Breakout-v5", "CartPole-v1", "ppo"}) EXPECT_FALSE(IsPluginPath(id, "/nowhere")) << id;
  EXPECT_FALSE(IsPluginPath("ppo", file));
}

TEST(Catalog, RejectsANameOfTwoFiles) {
  const TempFolder one, two;
  one.Copy("env_good");
  two.Copy("env_good");
  Catalog catalog;
  catalog.AddFolder(one.path());
  catalog.AddFolder(two.path());
  std::string why_not;
  EXPECT_EQ(catalog.Find(BP_KIND_ENV, "good", &why_not), nullptr);
  EXPECT_THAT(why_not, testing::AllOf(HasSubstr("more than one env 'good'"), HasSubstr(two.path())));
  EXPECT_TRUE(catalog.IsAmbiguous(catalog.plugins().front()));
  const PluginInfo* named = catalog.Find(BP_KIND_ENV, one.path() / "env_good.so", &why_not);
  ASSERT_NE(named, nullptr) << why_not;
  EXPECT_EQ(named->file, one.path() / "env_good.so");
}

// Both arms of a comparison of two versions: one by id, one by file.
TEST(Catalog, DoesNotFindAFileGivenByPathByItsId) {
  const TempFolder installed, kept;
  installed.Copy("env_good");
  kept.Copy("env_good");
  Catalog catalog;
  catalog.AddFolder(installed.path());
  std::string why_not;
  const PluginInfo* named = catalog.Find(BP_KIND_ENV, kept.path() / "env_good.so", &why_not);
  ASSERT_NE(named, nullptr) << why_not;
  const PluginInfo* by_id = catalog.Find(BP_KIND_ENV, "good", &why_not);
  ASSERT_NE(by_id, nullptr) << why_not;
  EXPECT_EQ(by_id->file, installed.path() / "env_good.so");
  catalog.AddFolder(kept.path());
  EXPECT_EQ(catalog.Find(BP_KIND_ENV, "good", &why_not), nullptr);
}

TEST(Catalog, RejectsOddFilesOfAFolderWithoutWaiting) {
  const TempFolder folder;
  ASSERT_EQ(mkfifo((folder.path() / "pipe.so").c_str(), 0600), 0);
  std::filesystem::create_symlink("/dev/zero", folder.path() / "device.so");
  std::filesystem::create_symlink("loop.so", folder.path() / "loop.so");
  std::filesystem::create_directory(folder.path() / "folder.so");
  std::ofstream(folder.path() / "empty.so").close();
  Catalog catalog;
  catalog.AddFolder(folder.path());
  std::vector<std::string> reasons;
  for (const Refusal& refusal : catalog.refusals()) reasons.push_back(refusal.reason);
  EXPECT_THAT(reasons, testing::ElementsAre(HasSubstr("device.so: cannot be opened: is a device, not a regular file"),
                                            HasSubstr("empty.so: is not an ELF file"),
                                            HasSubstr("folder.so: cannot be opened: is a folder"),
                                            HasSubstr("loop.so: cannot be opened: Too many levels of symbolic links"),
                                            HasSubstr("pipe.so: cannot be opened: is a pipe, not a regular file")));
}

TEST(Catalog, RejectsASectionWithAHugeSize) {
  const TempFolder folder;
  const std::filesystem::path file = folder.Copy("env_good");
  std::filesystem::resize_file(file, uint64_t{1} << 36);  // sparse: takes no space
  // Section headers, each claiming to contain names and to be as large as the file.
  uint64_t table = 0;
  std::ifstream(file, std::ios::binary).seekg(0x28).read(reinterpret_cast<char*>(&table), sizeof table);
  const uint64_t size = uint64_t{1} << 35;
  for (int section = 1; section < 8; ++section)
    Overwrite(file, table + 64 * static_cast<uint64_t>(section) + 32,
              std::string(reinterpret_cast<const char*>(&size), sizeof size));
  EXPECT_THAT(SentenceOf([&] { ElfFile(file).Exports(); }),
              HasSubstr("is damaged: a section has 34359738368 bytes, the limit is 67108864"));
}

}  // namespace
}  // namespace backplane
