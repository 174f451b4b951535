// The shipped study of batch sizes on model folders of Hugging Face: losses and ROUGE compared with transformers', recorded by
// `scripts/bart_oracle.py golden`.
#include <gmock/gmock.h>

#include <cstdlib>
#include <sstream>

#include "places.hpp"
#include "program.hpp"

namespace backplane::end_to_end {
namespace {

constexpr char kConfigs[] = BACKPLANE_SOURCE_DIR "/configs/batch_optimization/";
constexpr char kFolders[] = BACKPLANE_SOURCE_DIR "/tests/support/bart/";
constexpr char kPython[] = BACKPLANE_SOURCE_DIR "/.venv-oracle/bin/python";

class BartFolder : public ProgramTest {
 protected:
  void SetUp() override {
    if (!HasPlugin("learner_seq2seq.so")) GTEST_SKIP() << "built without LibTorch";
    static const bool has = std::system((std::string("'") + kPython + "' -c 'import tokenizers' 2>/dev/null").c_str()) == 0;
    if (!has) GTEST_SKIP() << "no tokenizers in .venv-oracle: run scripts/test";
    std::istringstream pairs(ReadFile(std::string(kFolders) + "pairs.tsv"));
    std::string line, learned, held_out;
    for (int row = -1; std::getline(pairs, line); ++row) {
      if (row < 64) learned += line + "\n";
      if (row < 0 || row >= 64) held_out += line + "\n";
    }
    learned_ = Write("train.tsv", learned).string(), held_out_ = Write("dev.tsv", held_out).string();
  }

  // 20 updates with all 64 rows each, then 20 generated texts.
  void ExpectNumbersOfTransformers(const std::string& kind, const std::string& config) {
    const std::string folder = kFolders + kind;
    const nlohmann::json golden = nlohmann::json::parse(ReadFile(folder + "/golden.json"));
    const Finished run =
        Run("run " + std::string(kConfigs) + config + ".yaml --quiet --out " + kind + config + " --set env.options.data=" +
            learned_ + " --set evaluation.env.options.data=" + held_out_ + " --set env.options.tokenizer=" + folder +
            " --set learner.options.model_name_or_path=" + folder + " --set env.options.python=" + kPython +
            " --set env.options.max_source_length=48 --set env.options.max_target_length=20"
            " --set env.options.rouge_tokenizer=char --set env.options.rouge_stem=false"
            " --set learner.options.learning_rate=0.01 --set budget.iterations=20"
            " --set evaluation.at_start=false --set evaluation.every_iterations=20 --set evaluation.episodes=20");
    ASSERT_EQ(run.exit, 0) << run.err;
    for (const auto& trial : std::filesystem::directory_iterator(dir_ / (kind + config) / "trials")) {
      std::istringstream metrics(ReadFile(trial.path() / "attempt-1/metrics.jsonl"));
      size_t update = 0;
      for (std::string line; std::getline(metrics, line);) {
        const nlohmann::json values = nlohmann::json::parse(line);
        if (values["iteration"] == 0) continue;
        ASSERT_LT(update, golden["losses"].size());
        EXPECT_NEAR(values["metrics"]["train/loss"].get<double>(), golden["losses"][update].get<double>(), 1e-4) << update;
        ++update;
      }
      EXPECT_EQ(update, golden["losses"].size());
      const nlohmann::json result = nlohmann::json::parse(ReadFile(trial.path() / "attempt-1/result.json"));
      for (const auto& [name, mean] : golden["rouge"].items())
        EXPECT_NEAR(result["evaluation"]["metrics"]["ep/" + name]["mean"].get<double>(), mean.get<double>(), 1e-6) << name;
    }
  }

  std::string learned_, held_out_;
};

TEST_F(BartFolder, TrainsAsTransformersInAnySplit) {
  for (const char* config : {"05a_small_batch_high_accum", "05b_medium_batch_medium_accum", "05c_large_batch_no_accum"})
    ExpectNumbersOfTransformers("bart", config);
}

TEST_F(BartFolder, TrainsKoBartAndMBartAsTransformers) {
  ExpectNumbersOfTransformers("kobart", "05a_small_batch_high_accum");
  ExpectNumbersOfTransformers("mbart", "05b_medium_batch_medium_accum");
}

}  // namespace
}  // namespace backplane::end_to_end
