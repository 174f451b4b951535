#include "plugin/catalog.hpp"

#include <gmock/gmock.h>

#include "fixture.hpp"

namespace backplane {
namespace {

using testing::HasSubstr;

TEST(Catalog, ListsPluginsAndRefusalsWithoutLoadingAny) {
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
  EXPECT_EQ(why_not, "there is no env 'goood'; did you mean 'good'?" + where);
  EXPECT_EQ(catalog.Find(BP_KIND_MONITOR, "good", &why_not), nullptr);
  EXPECT_EQ(why_not, "there is no monitor 'good'; no monitor is installed" + where);
}

TEST(Catalog, GivesTheReasonForARefusedName) {
  Catalog catalog;
  catalog.AddFolder(Fixture("env_good").parent_path());
  std::string why_not;
  EXPECT_EQ(catalog.Find(BP_KIND_ENV, "unsealed", &why_not), nullptr);
  EXPECT_THAT(why_not, HasSubstr("is not sealed"));
}

TEST(Catalog, TakesAPathToAFile) {
  Catalog catalog;
  std::string why_not;
  EXPECT_NE(catalog.Find(BP_KIND_ENV, Fixture("env_good"), &why_not), nullptr);
  EXPECT_EQ(catalog.Find(BP_KIND_LEARNER, Fixture("env_good"), &why_not), nullptr);
  EXPECT_THAT(why_not, HasSubstr("holds no learner"));
}

TEST(Catalog, RefusesANameThatTwoFilesHave) {
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

}  // namespace
}  // namespace backplane
