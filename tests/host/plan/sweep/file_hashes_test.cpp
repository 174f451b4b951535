#include "sweep/file_hashes.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <set>

#include "sweep/identity.hpp"
#include "sweep/python_files.hpp"
#include "sweep/xml_files.hpp"
#include "sweep/xml_tags.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

template <class Map>
std::set<std::string> Keys(const Map& map) {
  std::set<std::string> keys;
  for (const auto& [key, value] : map) keys.insert(key);
  return keys;
}

class FileHashesTest : public testing::Test {
 protected:
  FileHashesTest() {
    fs::create_directories(folder_);
    loaded_.env = Plugin("env.toy", {});
    loaded_.learner = Plugin("learner.toy", {});
    loaded_.experiment.env = {"toy", nlohmann::json::object()};
    loaded_.experiment.learner = {"toy", nlohmann::json::object()};
    loaded_.experiment.evaluation.env_options = nlohmann::json::object();
  }
  ~FileHashesTest() override { fs::remove_all(folder_); }

  std::string Write(const std::string& name, const std::string& text) {
    const fs::path file = folder_ / name;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
    return file.string();
  }
  std::shared_ptr<PluginInfo> Plugin(const std::string& id, std::vector<OptionInfo> options) {
    auto info = std::make_shared<PluginInfo>();
    info->id = id;
    info->file = Write("plugins/" + id + ".so", id);
    info->options = std::move(options);
    return info;
  }
  static OptionInfo Option(const std::string& name, uint16_t type, uint16_t flags, const char* range = nullptr) {
    OptionInfo option;
    option.path = name;
    option.type = type;
    option.flags = flags;
    if (range) option.range = range;
    return option;
  }
  void UseModel(const std::string& file) {
    loaded_.env = Plugin("env.toy", {Option("model", BP_PARAM_PATH, BP_PARAM_DATA | BP_PARAM_XML)});
    loaded_.experiment.env.options["model"] = file;
  }
  void UseModule(const std::string& file) {
    loaded_.env = Plugin("env.toy", {Option("code", BP_PARAM_PATH, BP_PARAM_DATA | BP_PARAM_PYTHON),
                                     Option("uses", BP_PARAM_ANY, BP_PARAM_DATA | BP_PARAM_LATER, "paths")});
    loaded_.experiment.env.options["code"] = file;
  }
  void UseCommand(std::vector<std::string> words, std::vector<std::string> files = {}) {
    loaded_.experiment.command.words = std::move(words);
    loaded_.experiment.command.files = std::move(files);
  }
  std::map<std::string, std::string> Hashes() const { return FileHashes().Of(loaded_); }
  std::string Id() const { return IdOf(TrialIdentity(PointIdentity(loaded_, {}), 0, Hashes())); }
  // True if a change of the file changes the trial.
  bool Matters(const std::string& name) {
    const std::string before = Id();
    std::ofstream(folder_ / name, std::ios::app) << " ";
    return Id() != before;
  }
  std::string Refusal() const {
    try {
      Hashes();
    } catch (const NoDataFile& error) {
      return error.path + " | " + error.what();
    }
    return "none";
  }

  fs::path folder_ = fs::path(testing::TempDir()) / ("file_hashes_test_" + std::to_string(getpid()));
  LoadedExperiment loaded_;
};

// XML

TEST(XmlTags, AreElementsWithTheirAttributes) {
  const auto tags = XmlTags(
      "<?xml version='1'?><!-- <a file='no'/> --><m n = \"1\" o='a &amp; &#x62;&lt;'><![CDATA[<x file='no'/>]]>"
      "<b/></m><!DOCTYPE y><c d='>'>text</c><e f=\"unclosed");
  ASSERT_EQ(tags.size(), 4u);
  EXPECT_EQ(tags[0].name, "m");
  EXPECT_EQ(*tags[0].Find("n"), "1");
  EXPECT_EQ(*tags[0].Find("o"), "a & b<");
  EXPECT_EQ(tags[0].Find("file"), nullptr);
  EXPECT_EQ(tags[1].name, "b");
  EXPECT_EQ(*tags[2].Find("d"), ">");
  EXPECT_EQ(tags[3].name, "e");
  for (const char* broken : {"", "<", "<<<", "<a b", "<a b=", "<a b=c>", "<!--", "<![CDATA[", "</", "<a 'x'/>"})
    XmlTags(broken);
}

TEST_F(FileHashesTest, FollowsIncludesOfAModel) {
  Write("lib/legs.xml", "<mujoco><include file='lib/feet.xml'/></mujoco>");
  Write("lib/feet.xml", "<mujoco/>");
  Write("other.xml", "<mujoco/>");
  UseModel(Write("ant.xml", "<mujoco><include file=\"lib/legs.xml\"/><!-- <include file='other.xml'/> --></mujoco>"));
  EXPECT_THAT(Keys(Hashes()), ElementsAre("env.options.model", "env.options.model/references", "env.plugin", "learner.plugin"));
  EXPECT_TRUE(Matters("ant.xml"));
  EXPECT_TRUE(Matters("lib/legs.xml"));
  EXPECT_TRUE(Matters("lib/feet.xml"));
  EXPECT_FALSE(Matters("other.xml"));
}

TEST_F(FileHashesTest, FindsAssetsInTheFoldersOfTheCompiler) {
  Write("meshes/hip.stl", "solid");
  Write("skins/face.png", "png");
  Write("skins/back.png", "png");
  Write("assets/floor.png", "png");
  Write("hills.png", "png");
  Write("unused.stl", "solid");
  Write("parts/compiler.xml", "<mujoco><compiler texturedir='skins'/></mujoco>");
  const auto found = FilesNamedByXml(
      Write("m.xml",
            "<mujoco><compiler meshdir='meshes' assetdir='assets'/><include file='parts/compiler.xml'/><asset>"
            "<mesh file='hip.stl'/><texture fileright='face.png' fileleft='back.png'/><texture file='floor.png'/>"
            "<hfield file='hills.png'/><mesh file='missing.stl'/></asset></mujoco>"));
  EXPECT_THAT(Keys(found), ElementsAre("assets/floor.png", "hills.png", "meshes/hip.stl", "parts/compiler.xml",
                                       "skins/back.png", "skins/face.png"));
}

TEST_F(FileHashesTest, FollowsAttachedModelsIntoTheirOwnFolders) {
  Write("arm/arm.xml", "<mujoco><compiler meshdir='parts'/><asset><mesh file='hand.obj'/></asset></mujoco>");
  Write("arm/parts/hand.obj", "v");
  Write("parts/hand.obj", "of another model");
  UseModel(Write("m.xml", "<mujoco><asset><model name='arm' file='arm/arm.xml'/></asset></mujoco>"));
  EXPECT_TRUE(Matters("arm/arm.xml"));
  EXPECT_TRUE(Matters("arm/parts/hand.obj"));
  EXPECT_FALSE(Matters("parts/hand.obj"));
}

TEST_F(FileHashesTest, FindsMeshesOfUrdfAndStrippedPaths) {
  Write("meshes/link.stl", "solid");
  Write("pkg/base.stl", "solid");
  EXPECT_THAT(Keys(FilesNamedByXml(Write("r.urdf",
                                         "<robot><mujoco><compiler meshdir='meshes'/></mujoco><mesh "
                                         "filename='package://pkg/base.stl'/><mesh filename='a/b/link.stl'/></robot>"))),
              ElementsAre("meshes/link.stl", "pkg/base.stl"));
  EXPECT_THAT(Keys(FilesNamedByXml(Write("s.xml",
                                         "<mujoco><compiler meshdir='meshes' strippath='true'/><mesh "
                                         "file='/elsewhere/link.stl'/></mujoco>"))),
              ElementsAre("meshes/link.stl"));
}

TEST_F(FileHashesTest, NamesFilesFromTheModelOnSoThatAMovedFolderIsTheSameTrial) {
  Write("one/parts/a.xml", "<mujoco/>");
  Write("two/parts/a.xml", "<mujoco/>");
  const std::string text = "<mujoco><include file='parts/a.xml'/><include file='../shared.xml'/></mujoco>";
  Write("shared.xml", "<mujoco/>");
  UseModel(Write("one/m.xml", text));
  const auto one = Hashes();
  UseModel(Write("two/m.xml", text));
  EXPECT_EQ(one.at("env.options.model/references"), Hashes().at("env.options.model/references"));
  EXPECT_TRUE(Matters("shared.xml"));
}

// Their trials keep their ids.
TEST_F(FileHashesTest, ModelWithoutReferencesIsOnlyItsFile) {
  UseModel(Write("m.xml", "<mujoco><worldbody><geom name='file'/></worldbody></mujoco>"));
  EXPECT_THAT(Keys(Hashes()), ElementsAre("env.options.model", "env.plugin", "learner.plugin"));
  loaded_.experiment.env.options["model"] = "";
  EXPECT_THAT(Keys(Hashes()), ElementsAre("env.plugin", "learner.plugin"));
}

TEST_F(FileHashesTest, EndsAtModelsThatIncludeThemselves) {
  Write("b.xml", "<mujoco><include file='a.xml'/><model file='a.xml'/></mujoco>");
  UseModel(Write("a.xml", "<mujoco><include file='b.xml'/><include file='a.xml'/><model file='b.xml'/></mujoco>"));
  EXPECT_TRUE(Matters("b.xml"));
}

TEST_F(FileHashesTest, RejectsAPipeThatAModelNames) {
  ASSERT_EQ(mkfifo((folder_ / "pipe.xml").c_str(), 0600), 0);
  UseModel(Write("m.xml", "<mujoco><include file='pipe.xml'/></mujoco>"));
  EXPECT_THAT(Refusal(), HasSubstr("env.options.model | env.options.model: expected a regular file at"));
}

// Python

TEST_F(FileHashesTest, HoldsThePythonFilesBelowTheFolderOfAModule) {
  Write("pkg/deep/rules.py", "");
  Write("helper.py", "");
  Write("data.csv", "");
  UseModule(Write("my_env.py", ""));
  EXPECT_THAT(Keys(Hashes()), ElementsAre("env.options.code", "env.options.code/modules", "env.plugin", "learner.plugin"));
  EXPECT_TRUE(Matters("my_env.py"));
  EXPECT_TRUE(Matters("helper.py"));
  EXPECT_TRUE(Matters("pkg/deep/rules.py"));
  EXPECT_FALSE(Matters("data.csv"));
  const std::string before = Id();
  fs::rename(folder_ / "helper.py", folder_ / "helper2.py");
  EXPECT_NE(Id(), before);
}

TEST_F(FileHashesTest, LeavesOutFoldersWithoutSources) {
  UseModule(Write("my_env.py", ""));
  for (const char* file :
       {".git/hooks/x.py", "__pycache__/x.py", "web/node_modules/x/x.py", "env/lib/x.py", "out/trials/1/x.py", "trial/x.py"})
    Write(file, "");
  Write("env/pyvenv.cfg", "");
  Write("out/plan.jsonl", "");
  Write("out/events.jsonl", "");
  Write("trial/trial.json", "");
  EXPECT_THAT(Keys(Hashes()), ElementsAre("env.options.code", "env.plugin", "learner.plugin"));
  // A results folder contains both files.
  Write("src/plan.jsonl", "");
  Write("src/x.py", "");
  EXPECT_TRUE(Matters("src/x.py"));
}

TEST_F(FileHashesTest, ListOfFilesReplacesTheScan) {
  Write("helper.py", "");
  Write("weights.bin", "");
  UseModule(Write("my_env.py", ""));
  loaded_.experiment.env.options["uses"] = {(folder_ / "weights.bin").string()};
  EXPECT_THAT(Keys(Hashes()), ElementsAre("env.options.code", "env.options.uses.0", "env.plugin", "learner.plugin"));
  EXPECT_TRUE(Matters("my_env.py"));
  EXPECT_TRUE(Matters("weights.bin"));
  EXPECT_FALSE(Matters("helper.py"));
  loaded_.experiment.evaluation.env_options["code"] = Write("for_evaluation.py", "");
  EXPECT_FALSE(Matters("helper.py")) << "the env's list is the evaluation's";
  loaded_.experiment.env.options["uses"] = {(folder_ / "none.bin").string()};
  EXPECT_THAT(Refusal(), HasSubstr("env.options.uses | env.options.uses.0: expected a file or a folder, got none at"));
}

TEST_F(FileHashesTest, HoldsTheModulesOfAScript) {
  Write("lib/net.py", "");
  const std::string script = Write("train.py", "");
  UseCommand({"python", script, "--lr", "{lr}"});
  EXPECT_THAT(Keys(Hashes()), ElementsAre("env.plugin", "learner.command.1", "learner.command.1/modules"));
  EXPECT_TRUE(Matters("lib/net.py"));
  EXPECT_TRUE(Matters("train.py"));
  UseCommand({"python", script}, {script});
  EXPECT_FALSE(Matters("lib/net.py"));
  EXPECT_TRUE(Matters("train.py"));
}

TEST_F(FileHashesTest, CoversTheModulesOfAPythonProgram) {
  Write("lib/net.py", "");
  UseCommand({Write("train", "#!/usr/bin/env python3\nimport lib.net\n")});
  EXPECT_TRUE(Matters("lib/net.py"));
  UseCommand({Write("train.sh", "#!/bin/sh\npython3 train.py\n")});
  EXPECT_FALSE(Matters("lib/net.py"));
}

TEST_F(FileHashesTest, ScriptWithoutModulesIsOnlyItsFile) {
  UseCommand({"python", Write("alone/train.py", "")});
  EXPECT_THAT(Keys(Hashes()), ElementsAre("env.plugin", "learner.command.1"));
}

TEST_F(FileHashesTest, AsksForAListIfThereAreTooManyFiles) {
  UseCommand({"python", Write("many/train.py", "")});
  for (size_t i = 1; i < kMaxPythonFiles; ++i) Write("many/lib/f" + std::to_string(i) + ".py", "");
  EXPECT_EQ(Refusal(), "none");
  Write("many/lib/one_more.py", "");
  EXPECT_THAT(Refusal(),
              HasSubstr("learner.command | learner.command.1: expected at most 2,000 Python files of 64 MiB in total"));
  EXPECT_THAT(Refusal(), HasSubstr("; list those that 'train.py' uses in learner.files"));
  UseModule((folder_ / "many/train.py").string());
  loaded_.experiment.command.words.clear();
  EXPECT_THAT(Refusal(), HasSubstr("uses in env.options.uses"));
}

TEST_F(FileHashesTest, AsksForAListIfTheFilesAreTooLarge) {
  UseCommand({"python", Write("large/train.py", "")});
  fs::resize_file(Write("large/table.py", ""), kMaxPythonBytes);
  EXPECT_EQ(PythonFilesBelow(folder_ / "large")->size(), 2u);
  Write("large/one_more.py", " ");
  EXPECT_THAT(Refusal(), HasSubstr("64 MiB in total"));
}

TEST_F(FileHashesTest, EndsAtLinksThatLeadBack) {
  Write("a/b/x.py", "");
  fs::create_directory_symlink(folder_ / "a", folder_ / "a/b/again");
  EXPECT_EQ(PythonFilesBelow(folder_ / "a")->size(), 1u);
}

// Thousands of points use the same files. A file that changes during planning counts for the next plan.
TEST_F(FileHashesTest, ReadsEachFolderOnce) {
  Write("lib/net.py", "");
  UseCommand({"python", Write("train.py", "")});
  FileHashes hashes;
  const auto first = hashes.Of(loaded_);
  fs::remove_all(folder_ / "lib");
  EXPECT_EQ(hashes.Of(loaded_), first);
  EXPECT_NE(FileHashes().Of(loaded_), first);
}

}  // namespace
}  // namespace backplane
