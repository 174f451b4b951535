// Model folders of Hugging Face as tokenizers: ids compared with transformers', and the errors of folders and of the process.
// Recorded by `scripts/bart_oracle.py golden`; the interpreter is .venv-oracle's, which scripts/test makes.
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "model_tokenizer.hpp"
#include "places.hpp"
#include "support/env_harness.hpp"

namespace backplane::summarization {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AllOf, testing::HasSubstr;

const std::string kPlugin = BACKPLANE_PLUGIN_DIR "/env_summarization.so";
const std::string kPython = BACKPLANE_SOURCE_DIR "/.venv-oracle/bin/python";
const fs::path kFolders = BACKPLANE_SOURCE_DIR "/tests/support/bart";
using Ids = std::vector<std::vector<int32_t>>;

class ModelFolderTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    static const bool has = std::system(("'" + kPython + "' -c 'import tokenizers' 2>/dev/null").c_str()) == 0;
    if (!has) GTEST_SKIP() << "no tokenizers in .venv-oracle: run scripts/test";
    folder_ = fs::temp_directory_path() / ("folder_test_" + std::to_string(getpid()));
    fs::remove_all(folder_);
    fs::copy(kFolders / (HasParam() ? GetParam() : "bart"), folder_);
  }
  void TearDown() override {
    if (!folder_.empty()) fs::remove_all(folder_);
  }
  static bool HasParam() { return testing::UnitTest::GetInstance()->current_test_info()->value_param() != nullptr; }

  json Read(const std::string& name) const { return json::parse(std::ifstream(folder_ / name)); }
  void Write(const std::string& name, const json& value) const { std::ofstream(folder_ / name) << value; }
  void Set(const std::string& name, const char* key, const json& value) const {
    json file = Read(name);
    file[key] = value;
    Write(name, file);
  }
  json Options(const json& more = json::object()) const {
    json options = {{"data", (folder_ / "rows.tsv").string()},
                    {"tokenizer", folder_.string()},
                    {"python", kPython},
                    {"max_source_length", 48},
                    {"max_target_length", 20},
                    {"rouge_tokenizer", "char"}};
    options.update(more);
    return options;
  }
  std::string Error(const json& more = json::object()) const {
    try {
      harness::Env env(kPlugin, 1, 1, Options(more));
    } catch (const std::runtime_error& e) {
      return e.what();
    }
    return "no error";
  }
  static std::vector<int32_t> Row(const harness::Env& env, const std::string& name, uint64_t row) {
    const int32_t* ids = env.At<int32_t>(name, row);
    return {ids, ids + *env.At<int32_t>(name + "_length", row)};
  }

  fs::path folder_;
};

TEST_P(ModelFolderTest, HasTheIdsAndTextsOfTransformers) {
  const json golden = Read("golden.json");
  const auto sources = golden["sources"].get<Ids>(), targets = golden["targets"].get<Ids>();
  harness::Env env(kPlugin, sources.size(), 1, Options());
  ASSERT_EQ(env.Reset(0, std::vector<uint64_t>(sources.size(), 1)), BP_OK) << env.error();
  for (size_t row = 0; row < sources.size(); ++row) EXPECT_EQ(Row(env, "obs", row), sources[row]) << "row " << row;
  ASSERT_EQ(env.Step(), BP_OK) << env.error();
  for (size_t row = 0; row < targets.size(); ++row) EXPECT_EQ(Row(env, "label", row), targets[row]) << "row " << row;

  const harness::FakeHost host;
  ModelTokenizer tokenizer(host.get(), {folder_.string(), kPython, "", ""}, {48, 20});
  EXPECT_EQ(tokenizer.Decode(sources), golden["texts"].get<std::vector<std::string>>());
}
INSTANTIATE_TEST_SUITE_P(Kinds, ModelFolderTest, testing::Values("bart", "kobart", "mbart"));

TEST_F(ModelFolderTest, LabelsEndInOneEndTokenAtAnyLength) {
  for (const std::string kind : {"bart", "kobart"}) {
    for (const int most : {3, 7, 200}) {
      harness::Env env(kPlugin, 13, 1, Options({{"tokenizer", (kFolders / kind).string()}, {"max_target_length", most}}));
      ASSERT_EQ(env.Reset(0, std::vector<uint64_t>(13, 1)), BP_OK);
      ASSERT_EQ(env.Step(), BP_OK);
      const int32_t end = kind == "bart" ? 2 : 1;
      for (uint64_t row = 0; row < 11; ++row) {  // a later text contains the token itself
        const std::vector<int32_t> label = Row(env, "label", row);
        EXPECT_LE(label.size(), static_cast<size_t>(most));
        EXPECT_EQ(std::count(label.begin(), label.end(), end), 1) << kind << ", row " << row;
        EXPECT_EQ(label.back(), end);
      }
    }
  }
}

TEST_F(ModelFolderTest, IgnoresStoredTruncationAndPadding) {
  const auto first = [&] {
    harness::Env env(kPlugin, 1, 1, Options());
    EXPECT_EQ(env.Reset(0, {1}), BP_OK);
    return Row(env, "obs", 0);
  };
  const std::vector<int32_t> before = first();
  Set("tokenizer.json", "truncation", {{"direction", "Right"}, {"max_length", 4}, {"strategy", "LongestFirst"}, {"stride", 0}});
  Set("tokenizer.json", "padding",
      {{"strategy", {{"Fixed", 40}}},
       {"direction", "Right"},
       {"pad_to_multiple_of", nullptr},
       {"pad_id", 1},
       {"pad_type_id", 0},
       {"pad_token", "<pad>"}});
  EXPECT_EQ(first(), before);
}

TEST_F(ModelFolderTest, ConfigurationDecidesAboutPrefixSpaces) {
  const auto first = [&] {
    harness::Env env(kPlugin, 1, 1, Options());
    EXPECT_EQ(env.Reset(0, {1}), BP_OK);
    return Row(env, "obs", 0);
  };
  const std::vector<int32_t> before = first();
  Set("tokenizer_config.json", "tokenizer_class", "BartTokenizerFast");
  Set("tokenizer_config.json", "add_prefix_space", true);
  EXPECT_NE(first()[1], before[1]) << "'A' with a space before it is a different token";
}

TEST_F(ModelFolderTest, ReadsMergesOfOldFilesToo) {
  json file = Read("tokenizer.json");
  for (json& merge : file["model"]["merges"]) merge = merge[0].get<std::string>() + " " + merge[1].get<std::string>();
  Write("tokenizer.json", file);
  harness::Env env(kPlugin, 1, 1, Options());
  ASSERT_EQ(env.Reset(0, {1}), BP_OK);
  EXPECT_EQ(Row(env, "obs", 0), Read("golden.json")["sources"].get<Ids>()[0]);
}

TEST_F(ModelFolderTest, RejectsUnusableFolders) {
  EXPECT_THAT(Error({{"tokenizer", kFolders.string()}}), AllOf(HasSubstr("expected tokenizer.json in"), HasSubstr("got none")));
  EXPECT_THAT(Error({{"target_lang", "ko_KR"}}), HasSubstr("expected a folder of mBART, got the tokenizer RobertaTokenizer"));
  EXPECT_THAT(Error({{"tokenizer", (kFolders / "mbart").string()}, {"target_lang", "xx_XX"}}),
              HasSubstr("expected a language of the tokenizer such as en_XX, got xx_XX"));
  EXPECT_THAT(Error({{"python", "/nowhere/python"}}), HasSubstr("cannot start '/nowhere/python'"));
  Set("config.json", "vocab_size", 100);
  EXPECT_THAT(Error(), AllOf(HasSubstr("a text has the token"), HasSubstr("vocab_size is 100")));
  Set("tokenizer.json", "version", "9.0");
  EXPECT_THAT(Error(), AllOf(HasSubstr("tokenizers 0."), HasSubstr("its version is 9.0")));
  std::ofstream(folder_ / "tokenizer.json") << "{";
  EXPECT_THAT(Error(), HasSubstr("tokenizer.json: cannot read"));
}

TEST_F(ModelFolderTest, NamesTheMissingPackage) {
  // An interpreter without site-packages.
  const fs::path python = folder_ / "bare";
  std::ofstream(python) << "#!/bin/sh\nexec python3 -S -E \"$@\"\n";
  fs::permissions(python, fs::perms::owner_all);
  EXPECT_THAT(Error({{"python", python.string()}}),
              AllOf(HasSubstr("No module named 'tokenizers'"), HasSubstr("pip install tokenizers")));
}

TEST_F(ModelFolderTest, WarnsOfUnknownWords) {
  std::ofstream(folder_ / "rows.tsv") << "document\tsummary\n龘龘 龘龘 龘龘\t龘龘\n";
  harness::Env env(kPlugin, 1, 1, Options({{"tokenizer", (kFolders / "kobart").string()}}));
  EXPECT_THAT(env.warnings(), testing::Contains(HasSubstr("of the tokens are unknown")));
}

}  // namespace
}  // namespace backplane::summarization
