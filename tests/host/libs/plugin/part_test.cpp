#include "plugin/part.hpp"

#include <gmock/gmock.h>

#include <fstream>

#include "fixture.hpp"
#include "plugin/catalog.hpp"
#include "plugin/loader.hpp"
#include "plugin/metadata.hpp"
#include "plugin/seal.hpp"

namespace backplane {
namespace {

using testing::HasSubstr;

class PartTest : public testing::Test {
 protected:
  PluginInfo Sealed() {
    Seal(plugin_, nullptr, {part_});
    return ReadPlugins(plugin_).front();
  }
  std::string Refusal(const std::string& name = "half") {
    return SentenceOf([&] { FindPart(ReadPlugins(plugin_).front(), name); });
  }

  const TempFolder folder_;
  const std::filesystem::path plugin_ = folder_.Copy("env_good"), part_ = folder_.Copy("env_good_half");
};

TEST_F(PartTest, IsFoundNextToThePluginThatWasSealedWithIt) {
  const PluginInfo part = FindPart(Sealed(), "half");
  EXPECT_EQ(part.file, part_);
  EXPECT_EQ(part.id, "part.env_good_half");
  const auto module = LoadedModule::Load(part.file, "");
  EXPECT_EQ(static_cast<const int*>(module->api<void>(part.id))[1], 21);
}

TEST_F(PartTest, IsNotFoundAsAPlugin) {
  Catalog catalog;
  catalog.AddFolder(part_.parent_path());
  EXPECT_TRUE(catalog.refusals().empty());
  std::string why_not;
  for (const uint32_t kind : {BP_KIND_ENV, BP_KIND_LEARNER, BP_KIND_MONITOR})
    EXPECT_EQ(catalog.Find(kind, "env_good_half", &why_not), nullptr);
}

TEST_F(PartTest, MustBeTheFileOfThePluginsSeal) {
  EXPECT_THAT(Refusal(), HasSubstr("'env.good' was sealed without its part 'half'"));
  Sealed();
  EXPECT_THAT(Refusal("third"), HasSubstr("without its part 'third'"));
  std::ofstream(part_, std::ios::app) << "another build";
  EXPECT_THAT(Refusal(), HasSubstr("env_good_half.so: differs from the part 'half' of 'env.good'"));
  std::filesystem::remove(part_);
  EXPECT_THAT(Refusal(), HasSubstr("env_good_half.so: is missing; expected the part 'half' of 'env.good'"));
}

TEST_F(PartTest, HasToBeNextToThePluginWithItsName) {
  const auto refused = [&](const std::filesystem::path& part) { return SentenceOf([&] { DescribePart(plugin_, part); }); };
  EXPECT_THAT(refused(folder_.Copy("env_unsealed")),
              HasSubstr("expected " + (plugin_.parent_path() / "env_good_NAME.so").string()));
  EXPECT_THAT(refused(Fixture("env_good_half")), HasSubstr("is not a part of "));
  const std::filesystem::path env = plugin_.parent_path() / "env_good_env.so";
  std::filesystem::copy_file(plugin_, env);
  EXPECT_THAT(refused(env), HasSubstr("expected a part of a plugin, got the env 'env.good'"));
}

}  // namespace
}  // namespace backplane
