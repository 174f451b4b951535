#include "plugin/metadata.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "backplane/host.h"
#include "fixture.hpp"

namespace backplane {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

std::string NotRead(const std::filesystem::path& file) {
  const std::string sentence = SentenceOf([&] { ReadPlugins(file); });
  EXPECT_THAT(sentence, HasSubstr(file.string()));
  return sentence;
}

// Changes one value in the metadata of env_good and returns the error.
std::string RefusedWith(const std::string& pointer, const json& value) {
  const TempFolder folder;
  const std::filesystem::path file = folder.Copy("env_good");
  json metadata = json::parse(Metadata(file));
  metadata[json::json_pointer(pointer)] = value;
  SetMetadata(file, metadata.dump());
  return NotRead(file);
}

TEST(ReadPlugins, ReturnsTheDescriptionOfTheSealedPlugin) {
  const std::vector<PluginInfo> plugins = ReadPlugins(Fixture("env_good"));
  ASSERT_EQ(plugins.size(), 1u);
  const PluginInfo& info = plugins[0];
  EXPECT_EQ(info.id, "env.good");
  EXPECT_EQ(info.kind, static_cast<uint32_t>(BP_KIND_ENV));
  EXPECT_EQ(info.version, "1.2.3");
  EXPECT_EQ(info.flags, static_cast<uint64_t>(BP_FLAG_ROWS_CONCURRENT));
  EXPECT_EQ(info.build.cxx11abi, _GLIBCXX_USE_CXX11_ABI);
  EXPECT_EQ(info.build.torch, "");
  ASSERT_EQ(info.options.size(), 2u);
  EXPECT_EQ(info.options[0].def, "1.0");
  EXPECT_EQ(info.options[0].range, "(0,10]");
  EXPECT_THAT(info.options[0].aliases, ElementsAre("k", "strength"));
  EXPECT_THAT(info.options[0].helps, ElementsAre("update_bound-"));
  EXPECT_EQ(info.options[1].def, std::nullopt);
  EXPECT_EQ(info.options[1].flags, BP_PARAM_DATA);
}

TEST(ReadPlugins, ReadsAStrippedPlugin) {
  const TempFolder folder;
  const std::filesystem::path file = folder.Copy("env_good");
  ASSERT_EQ(std::system(("strip " + file.string()).c_str()), 0);
  EXPECT_EQ(ReadPlugins(file)[0].id, "env.good");
}

TEST(Plugin, ExportsExactlyOneSymbol) { EXPECT_THAT(ElfFile(Fixture("env_good")).Exports(), ElementsAre("bp_module_v1")); }

TEST(ReadPlugins, RejectsATextFile) { EXPECT_THAT(NotRead(Fixture("env_text")), HasSubstr("is not an ELF file")); }

TEST(ReadPlugins, RejectsAMissingFile) {
  EXPECT_THAT(NotRead("/nowhere/env_x.so"), HasSubstr("cannot be opened: No such file"));
}

TEST(ReadPlugins, RejectsADifferentMachine) {
  const TempFolder folder;
  const std::filesystem::path file = folder.Copy("env_good");
  Overwrite(file, 18, std::string("\xf3\x00", 2));  // e_machine: EM_RISCV
  EXPECT_THAT(NotRead(file), testing::AllOf(HasSubstr("different machine"), HasSubstr("got 64-bit riscv")));
}

TEST(ReadPlugins, RejectsATruncatedFile) {
  const TempFolder folder;
  const std::filesystem::path file = folder.Copy("env_good");
  std::filesystem::resize_file(file, 4096);
  EXPECT_THAT(NotRead(file), testing::AllOf(HasSubstr("is damaged: it refers to "), HasSubstr("but has only 4096 bytes")));
}

TEST(ReadPlugins, SurvivesAnyFlippedByteOfTheHeader) {
  for (uint64_t offset = 0; offset < 64; ++offset) {
    const TempFolder folder;
    const std::filesystem::path file = folder.Copy("env_good");
    Overwrite(file, offset, "\xff");
    try {
      ReadPlugins(file);
    } catch (const PluginError&) {
    }
  }
}

TEST(ReadPlugins, RejectsALibraryWithoutTheEntryPoint) {
  EXPECT_THAT(NotRead(Fixture("env_no_entry")), HasSubstr("does not export bp_module_v1"));
}

TEST(ReadPlugins, RejectsADifferentAbiMajor) {
  EXPECT_THAT(NotRead(Fixture("env_other_major")), HasSubstr("different ABI major: expected bp_module_v1, got bp_module_v2"));
}

TEST(ReadPlugins, RejectsAnUnsealedFile) { EXPECT_THAT(NotRead(Fixture("env_unsealed")), HasSubstr("is not sealed")); }

TEST(ReadPlugins, RejectsAPluginForANewerHost) {
  EXPECT_THAT(NotRead(Fixture("env_needs_newer_host")), HasSubstr("expected ABI 1.99 or newer, got 1.2"));
}

TEST(ReadPlugins, RejectsUnknownNeeds) {
  EXPECT_THAT(
      NotRead(Fixture("env_needs_unknown_extension")),
      HasSubstr("needs the host service 'org.example.teleport/1', which this host does not have; it has bp.host.env/1, "
                "bp.host.facts/1, bp.host.file/1, bp.host.gpus/1, bp.host.metrics/1, bp.host.parallel/1, bp.host.part/1, "
                "bp.host.phase/1, bp.host.shared/1, bp.host.trial/1"));
}

TEST(ReadPlugins, AcceptsAPluginWhoseNeedsTheHostMeets) {
  EXPECT_THAT(ReadPlugins(Fixture("env_needs_phases"))[0].needs, ElementsAre(BP_HOST_PHASE_1));
}

TEST(ReadPlugins, RejectsCorruptMetadata) {
  const TempFolder folder;
  const std::filesystem::path file = folder.Copy("env_good");
  SetMetadata(file, "{\"bp_meta\":1,");
  EXPECT_THAT(NotRead(file), HasSubstr("metadata section is corrupt"));
  SetMetadata(file, "{\"bp_meta\":1}");
  EXPECT_THAT(NotRead(file), HasSubstr("metadata section is corrupt"));
}

TEST(ReadPlugins, RejectsADifferentBuild) {
  EXPECT_THAT(RefusedWith("/build/sanitizer", "memory"), HasSubstr("different sanitizer: expected"));
  EXPECT_THAT(RefusedWith("/build/cxx11abi", 1 - _GLIBCXX_USE_CXX11_ABI), HasSubstr("different C++ ABI"));
  EXPECT_THAT(RefusedWith("/bp_meta", 2), HasSubstr("different format: expected 1, got 2"));
  EXPECT_THAT(RefusedWith("/abi/0", 2), HasSubstr("different ABI major: expected 1, got 2"));
  EXPECT_THAT(RefusedWith("/plugins", json::array()), HasSubstr("one or more plugins in its metadata, got none"));
}

TEST(ReadPlugins, NeedsNoCxxAbiForAPluginWrittenInC) {
  const TempFolder folder;
  const std::filesystem::path file = folder.Copy("env_good");
  json metadata = json::parse(Metadata(file));
  metadata["build"]["cxx11abi"] = nullptr;
  SetMetadata(file, metadata.dump());
  EXPECT_EQ(ReadPlugins(file)[0].build.cxx11abi, std::nullopt);
}

}  // namespace
}  // namespace backplane
