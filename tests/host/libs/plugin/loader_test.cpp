#include "plugin/loader.hpp"

#include <gmock/gmock.h>

#include "backplane/env.h"
#include "backplane/learner.h"
#include "fixture.hpp"
#include "plugin/host_services.hpp"
#include "plugin/torch_folder.hpp"

namespace backplane {
namespace {

using testing::HasSubstr;

std::string Refused(const std::string& stem, const std::string& torch_version = "") {
  return SentenceOf([&] { LoadedModule::Load(Fixture(stem), torch_version); });
}

TEST(LoadedModule, GivesDescriptorAndTable) {
  const auto module = LoadedModule::Load(Fixture("env_good"), "");
  EXPECT_STREQ(module->descriptor("env.good").version, "1.2.3");
  const auto* api = module->api<bp_env_api>("env.good");
  HostSinks sinks;
  HostServices host("env.good", &sinks);
  bp_env* env = nullptr;
  ASSERT_EQ(api->create(host.get(), nullptr, 4, &env), BP_OK);
  EXPECT_EQ(api->spec(env)->n_channels, 4u);
  api->destroy(env);
}

TEST(LoadedModule, ListsItsPluginsIfAnUnknownOneIsRequested) {
  const auto module = LoadedModule::Load(Fixture("env_good"), "");
  EXPECT_THAT(SentenceOf([&] { module->descriptor("env.better"); }), HasSubstr("has no plugin 'env.better'; it has env.good"));
}

TEST(LoadedModule, ChecksTheMetadataFirst) { EXPECT_THAT(Refused("env_unsealed"), HasSubstr("is not sealed")); }

TEST(LoadedModule, RejectsADifferentLibTorch) {
  EXPECT_THAT(Refused("env_other_torch", "2.0"), HasSubstr("was built against LibTorch 0.0.1+elsewhere, this process has 2.0"));
  EXPECT_THAT(Refused("env_other_torch"), HasSubstr("this process has none"));
}

TEST(LoadedModule, RejectsMetadataThatTheCodeContradicts) {
  const TempFolder folder;
  const auto file = folder.Copy("env_good");
  std::string text = Metadata(file);
  text.replace(text.find("env.good"), 8, "env.evil");
  SetMetadata(file, text);
  EXPECT_THAT(SentenceOf([&] { LoadedModule::Load(file, ""); }),
              HasSubstr("contains the env 'env.evil', but its code does not"));
}

TEST(LoadedModule, ReportsAFailedInit) { EXPECT_THAT(Refused("env_init_fails"), HasSubstr("init failed with status -9")); }

TEST(LoadedModule, RejectsAMissingOrShortTable) {
  const auto none = LoadedModule::Load(Fixture("env_no_table"), "");
  EXPECT_THAT(SentenceOf([&] { none->api<bp_env_api>("env.no_table"); }), HasSubstr("provides no function table"));
  const auto brief = LoadedModule::Load(Fixture("env_short_table"), "");
  EXPECT_THAT(SentenceOf([&] { brief->api<bp_env_api>("env.short_table"); }),
              HasSubstr("is too short: expected at least 64 bytes for the kind env, got "));
}

TEST(LoadedModule, ReportsTheErrorOfAFailedCreate) {
  const auto module = LoadedModule::Load(Fixture("env_create_fails"), "");
  HostSinks sinks;
  HostServices host("env.create_fails", &sinks);
  bp_env* env = nullptr;
  EXPECT_EQ(module->api<bp_env_api>("env.create_fails")->create(host.get(), nullptr, 1, &env), BP_E_CONFIG);
  EXPECT_EQ(host.TakeError(), "this env never starts");
}

TEST(PreloadTorch, NamesTheFolderItCannotUse) {
  EXPECT_THAT(SentenceOf([] { PreloadTorch("/nowhere/torch/lib"); }), HasSubstr("/nowhere/torch"));
}

// Without the preload, the message is the loader's own; with it, the plugin's library names are already resolved.
TEST(PreloadTorch, LetsAPluginLinkedToLibTorchLoad) {
  if (!*BACKPLANE_TORCH_ROOT) GTEST_SKIP() << "built without LibTorch";
  EXPECT_THAT(Refused("learner_needs_torch", BACKPLANE_TORCH_VERSION), HasSubstr("cannot open shared object file"));
  const std::string version = PreloadTorch(std::string(BACKPLANE_TORCH_ROOT) + "/lib");
  EXPECT_EQ(version, BACKPLANE_TORCH_VERSION);
  const auto module = LoadedModule::Load(Fixture("learner_needs_torch"), version);
  EXPECT_NE(module->api<bp_learner_api>("learner.needs_torch"), nullptr);
}

TEST(FindTorchLib, PrefersTheEnvironment) {
  setenv("BACKPLANE_TORCH_LIB", "/elsewhere/lib", 1);
  EXPECT_EQ(FindTorchLib(), "/elsewhere/lib");
  unsetenv("BACKPLANE_TORCH_LIB");
  const std::string root = BACKPLANE_TORCH_ROOT;  // the build's torch.json is in ../lib/backplane of this test program
  EXPECT_EQ(FindTorchLib(), root.empty() ? "" : root + "/lib");
}

TEST(RecordedTorchLib, IgnoresAFolderWithoutLibTorch) {
  const TempFolder folder;
  const std::filesystem::path file = folder.path() / "torch.json", lib = folder.path() / "lib";
  EXPECT_EQ(RecordedTorchLib(file), "");
  std::ofstream(file) << R"({"lib": ")" << lib.string() << R"("})";
  EXPECT_EQ(RecordedTorchLib(file), "");
  std::filesystem::create_directory(lib);
  EXPECT_EQ(RecordedTorchLib(file), "");
  std::ofstream(lib / "libtorch.so") << "no library";
  EXPECT_EQ(RecordedTorchLib(file), lib);
}

TEST(RecordedTorchLib, RejectsAMalformedFile) {
  const TempFolder folder;
  const std::filesystem::path file = folder.path() / "torch.json";
  std::ofstream(file) << "{";
  EXPECT_THAT(SentenceOf([&] { RecordedTorchLib(file); }), HasSubstr("torch.json: expected {\"lib\":"));
}

}  // namespace
}  // namespace backplane
