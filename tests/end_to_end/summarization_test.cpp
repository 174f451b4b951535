// The shipped study of batch sizes, with a model and texts so small that it takes seconds.
#include <gmock/gmock.h>
#include <sentencepiece_trainer.h>
#include <signal.h>

#include <cstdlib>
#include <map>
#include <set>
#include <sstream>

#include "places.hpp"
#include "program.hpp"

namespace backplane::end_to_end {
namespace {

using testing::HasSubstr;

constexpr char kConfigs[] = BACKPLANE_SOURCE_DIR "/configs/batch_optimization/";
constexpr char kAll[] = BACKPLANE_SOURCE_DIR "/configs/summarization/batch_optimization.yaml";
constexpr char kSmallBatch[] = "batch_optimization/05a_small_batch_high_accum";  // below outputs/

// 90 fictitious notices in RFC 4180: quotes, and line breaks inside a field.
std::string Notices(bool korean) {
  const char* const places[][2] = {
      {"the island", "섬"}, {"the lake", "호수"}, {"the tower", "탑"}, {"the market", "시장"}, {"the bridge", "다리"}};
  const char* const things[][2] = {{"A ferry", "배"}, {"A night train", "밤 기차"}, {"A walk", "산책"}};
  std::ostringstream csv;
  csv << "document,summary\r\n";
  for (int i = 0; i < 90; ++i) {
    const std::string place = places[i % 5][korean], thing = things[i / 5 % 3][korean], hour = std::to_string(1 + i / 15);
    if (korean) {
      csv << "\"\"\"" << thing << "\"\"\n"
          << place << "에서 " << hour << "시에 떠나는 길입니다, 비가 와도 갑니다.\"," << place << " " << thing << " " << hour
          << "시\r\n";
    } else {
      csv << "\"\"\"" << thing << "\"\" leaves for " << place << " at " << hour << ",\nand it goes in the rain too.\"," << thing
          << " to " << place << " at " << hour << "\r\n";
    }
  }
  return csv.str();
}

class BatchSizes : public ProgramTest {
 protected:
  void SetUp() override {
    if (!HasPlugin("learner_seq2seq.so")) GTEST_SKIP() << "built without LibTorch";
    const std::string train = Write("train.csv", Notices(korean_)).string();
    small_ = " --set env.options.data=" + train + " --set evaluation.env.options.data=" + train +
             " --set env.options.tokenizer=" + Vocabulary(train) +
             " --set env.options.max_source_length=64 --set env.options.max_target_length=32"
             " --set learner.options.d_model=16 --set learner.options.encoder_layers=1 --set learner.options.decoder_layers=1"
             " --set learner.options.encoder_attention_heads=2 --set learner.options.decoder_attention_heads=2"
             " --set learner.options.encoder_ffn_dim=32 --set learner.options.decoder_ffn_dim=32"
             " --set budget.iterations=20 --set evaluation.every_iterations=10 --set evaluation.episodes=10"
             " --set checkpoint.every_iterations=3";
  }

  std::string Vocabulary(const std::string& train) {
    const std::string prefix = (dir_ / "spm").string();
    const auto status =
        sentencepiece::SentencePieceTrainer::Train("--input=" + train + " --model_prefix=" + prefix +
                                                   " --vocab_size=150 --hard_vocab_limit=false --bos_id=0 --pad_id=1 "
                                                   "--eos_id=2 --unk_id=3 --num_threads=1 --minloglevel=2");
    EXPECT_TRUE(status.ok()) << status.ToString();
    return prefix + ".model";
  }

  // A report's cells: for each point, its cells by column.
  std::map<std::string, std::map<std::string, std::string>> Rows(const std::filesystem::path& csv) {
    std::istringstream text(ReadFile(csv));
    const auto cells = [](const std::string& line) {
      std::vector<std::string> found(1);
      bool quoted = false;
      for (const char c : line) {
        if (c == '"') quoted = !quoted;
        if (c == ',' && !quoted) {
          found.emplace_back();
        } else if (c != '\r') {
          found.back() += c;
        }
      }
      return found;
    };
    std::string line;
    std::getline(text, line);
    const std::vector<std::string> header = cells(line);
    std::map<std::string, std::map<std::string, std::string>> rows;
    while (std::getline(text, line)) {
      const std::vector<std::string> row = cells(line);
      for (size_t i = 0; i < std::min(header.size(), row.size()); ++i) rows[row[0]][header[i]] = row[i];
    }
    return rows;
  }

  // Losses of the updates, in order.
  std::vector<double> Losses(const std::filesystem::path& metrics) {
    std::istringstream text(ReadFile(metrics));
    std::vector<double> losses;
    for (std::string line; std::getline(text, line);) {
      const nlohmann::json values = nlohmann::json::parse(line);
      if (values["iteration"] != 0) losses.push_back(values["metrics"]["train/loss"]);
    }
    return losses;
  }

  bool korean_ = false;
  std::string small_;
};

TEST_F(BatchSizes, LearnTheSameAndAreSetSideBySide) {
  const Finished run = Run("run " + std::string(kAll) + small_);
  ASSERT_EQ(run.exit, 0) << run.err;
  EXPECT_THAT(run.err, Not(HasSubstr("warning:")));
  const std::filesystem::path report = dir_ / "outputs/analysis/batch_optimization";
  for (const char* file :
       {"memory_vs_speed.png", "training_curves.png", "summary_table.png", "batch_optimization_report.md", "selected.yaml"})
    EXPECT_GT(std::filesystem::file_size(report / file), 100u) << file;
  auto rows = Rows(report / "batch_optimization_results.csv");
  ASSERT_EQ(rows.size(), 3u);
  for (auto& [point, row] : rows) {
    for (const auto& [column, cell] : row) {
      const bool may_be_empty = column == "first_out_of_memory" || column == "remark" || column == "cpu_flags" ||
                                column.ends_with("_low") || column.ends_with("_high");
      EXPECT_TRUE(may_be_empty || !cell.empty()) << point << " has no " << column;
    }
    EXPECT_EQ(row["out_of_memory"], "0");
    EXPECT_EQ(row["updates"], "20");
  }
  EXPECT_EQ(rows["05b_medium_batch_medium_accum"]["micro_batch"], "16");
  EXPECT_LT(std::stod(rows["05a_small_batch_high_accum"]["peak_memory"]),
            std::stod(rows["05c_large_batch_no_accum"]["peak_memory"]));
  std::vector<std::vector<double>> losses;
  for (const auto& trial : std::filesystem::directory_iterator(dir_ / "outputs/batch_optimization_all/trials"))
    losses.push_back(Losses(trial.path() / "attempt-1/metrics.jsonl"));
  ASSERT_EQ(losses.size(), 3u);
  for (const std::vector<double>& other : losses) {
    ASSERT_EQ(other.size(), 20u);
    for (size_t i = 0; i < 20; ++i) EXPECT_NEAR(other[i], losses[0][i], 1e-4) << "update " << i + 1;
  }
  EXPECT_LT(losses[0].back(), losses[0].front());
}

TEST_F(BatchSizes, ShrinkToTheSmallestOnASmallDevice) {
  const auto run = [&](const std::string& file, const std::string& more) {
    const Finished done = Run("run " + std::string(kConfigs) + file + ".yaml --quiet" + small_ + more);
    EXPECT_EQ(done.exit, 0) << done.err;
  };
  run("05a_small_batch_high_accum", " --out outputs/direct");
  const std::vector<double> direct = Losses(Attempt("direct") / "metrics.jsonl");
  ASSERT_EQ(direct.size(), 20u);
  const auto peak = static_cast<uint64_t>(
      std::stod(Rows(dir_ / "outputs/direct/report/batch_optimization_results.csv").begin()->second["peak_memory"]) * 1024);
  const std::string limit = " --set resources.device_memory=" + std::to_string(peak * 5 / 4) + "KiB";

  run("05c_large_batch_no_accum", " --out outputs/shrunk" + limit);
  const nlohmann::json shrunk = Result("shrunk");
  EXPECT_EQ(shrunk["data"]["micro_batch"], 8);
  EXPECT_FALSE(shrunk["data"]["shrinks"].empty());
  const std::vector<double> losses = Losses(Attempt("shrunk") / "metrics.jsonl");
  ASSERT_EQ(losses.size(), 20u);
  for (size_t i = 0; i < 20; ++i) EXPECT_NEAR(losses[i], direct[i], 1e-5) << "update " << i + 1;

  run("05a_small_batch_high_accum",
      " --out outputs/auto --set learner.options.per_device_train_batch_size=auto"
      " --set learner.options.gradient_accumulation_steps=0" +
          limit);
  const nlohmann::json fitted = Result("auto");
  EXPECT_GE(fitted["data"]["micro_batch"], 8);
  EXPECT_LT(fitted["data"]["micro_batch"], 16);
  EXPECT_TRUE(fitted["data"]["shrinks"].empty());
}

TEST_F(BatchSizes, WriteFilesThatCanBeRunAgain) {
  const std::string file =
      std::string(kConfigs) + "05a_small_batch_high_accum.yaml" + small_ + " --set budget.iterations=2 --quiet";
  ASSERT_EQ(Run("run " + file).exit, 0);
  const std::string id = Attempt(kSmallBatch).parent_path().filename();
  for (const char* written : {"outputs/batch_optimization/05a_small_batch_high_accum/config.yaml",
                              "outputs/batch_optimization/05a_small_batch_high_accum/report/selected.yaml --set "
                              "budget.iterations=2"}) {
    const Finished again = Run("run " + std::string(written) + " --quiet --out again --fresh");
    EXPECT_EQ(again.exit, 0) << written << "\n" << again.err;
    EXPECT_TRUE(std::filesystem::exists(dir_ / "again/trials" / id)) << written << " is another trial";
  }
  // The experiment's name, memory and checkpoints do not change a trial's identity.
  ASSERT_EQ(Run("run " + file +
                " --out other --set experiment=other --set checkpoint.every_iterations=1 --set resources.device_memory=7GiB")
                .exit,
            0);
  EXPECT_TRUE(std::filesystem::exists(dir_ / "other/trials" / id));
}

TEST_F(BatchSizes, LoopOverTheFolderRunsThreeExperimentsWithOneReport) {
  std::set<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(kConfigs)) {
    ASSERT_EQ(Run("run " + file.path().string() + " --quiet" + small_ + " --set budget.iterations=4").exit, 0) << file.path();
    names.insert(file.path().stem());
    EXPECT_TRUE(
        std::filesystem::exists(Out("batch_optimization") / file.path().stem() / "report/batch_optimization_report.md"));
  }
  EXPECT_EQ(names.size(), 3u);
  const Finished report = Run("report outputs/batch_optimization/*");
  ASSERT_EQ(report.exit, 0) << report.err;
  const std::filesystem::path folder = dir_ / "outputs/analysis/batch_optimization";
  for (const char* file : {"memory_vs_speed.png", "training_curves.png", "summary_table.png", "batch_optimization_report.md"})
    EXPECT_TRUE(std::filesystem::exists(folder / file)) << file;
  EXPECT_EQ(Rows(folder / "batch_optimization_results.csv").size(), 3u);
  // A different folder for one of them is no agreement.
  ASSERT_EQ(Run("run " + std::string(kConfigs) + "05a_small_batch_high_accum.yaml --out other --quiet" + small_ +
                " --set budget.iterations=4 --set report.joint_dir=elsewhere")
                .exit,
            0);
  ASSERT_EQ(Run("report other outputs/batch_optimization/05b*").exit, 0);
  EXPECT_FALSE(std::filesystem::exists(dir_ / "elsewhere"));
}

TEST_F(BatchSizes, KilledInTheMiddleHaveTheSameTableExceptForTimes) {
  const std::string file = std::string(kConfigs) + "05a_small_batch_high_accum.yaml" + small_ + " --set budget.iterations=60";
  ASSERT_EQ(Run("run " + file + " --out whole").exit, 0);
  const pid_t pid = Start("run " + file + " --out parts");
  const auto lines = [&] {
    std::error_code none_yet;
    for (const auto& trial : std::filesystem::directory_iterator(dir_ / "parts/trials", none_yet))
      return Lines(trial.path() / "attempt-1/metrics.jsonl").size();
    return size_t{0};
  };
  ASSERT_TRUE(Until([&] { return lines() >= 15; })) << ErrorsOf(pid);
  kill(pid, SIGKILL);
  Wait(pid);
  const Finished again = Run("run " + file + " --out parts");
  ASSERT_EQ(again.exit, 0) << again.err;
  auto whole = Rows(dir_ / "whole/report/batch_optimization_results.csv").begin()->second;
  auto parts = Rows(dir_ / "parts/report/batch_optimization_results.csv").begin()->second;
  EXPECT_EQ(parts["resumed"], "1") << "the kill came after its end";
  const auto is_time = [](const std::string& column) {
    for (const char* word : {"second", "time", "per_minute", "resident", "resumed"})
      if (column.find(word) != std::string::npos) return true;
    return false;
  };
  // Removes marks of a busy machine, because other tests may have run during one of the two.
  const auto without_busy = [](std::string cell) {
    for (const std::string_view mark : {std::string_view("; busy machine"), std::string_view("busy machine")})
      if (const size_t at = cell.find(mark); at != std::string::npos) cell.erase(at, mark.size());
    return cell;
  };
  size_t compared = 0;
  for (const auto& [column, cell] : whole) {
    if (is_time(column)) continue;
    EXPECT_EQ(without_busy(parts[column]), without_busy(cell)) << column;
    ++compared;
  }
  EXPECT_GT(compared, 30u);
}

class KoreanTexts : public BatchSizes {
 protected:
  KoreanTexts() { korean_ = true; }
};

TEST_F(KoreanTexts, AreLearnedFromACsvAndScoredByCharacters) {
  const Finished run = Run("run " + std::string(kConfigs) + "05a_small_batch_high_accum.yaml" + small_ +
                           " --set env.options.rouge_tokenizer=char --set env.options.rouge_stem=false --set "
                           "learner.options.learning_rate=0.01 --set budget.iterations=100"
                           " --set evaluation.every_iterations=50");
  ASSERT_EQ(run.exit, 0) << run.err;
  EXPECT_THAT(run.err + run.out + ReadFile(Attempt(kSmallBatch) / "stderr.log"), Not(HasSubstr("not Latin")));
  const nlohmann::json result = Result(kSmallBatch);
  EXPECT_THAT(result["facts"]["env.summarization"]["rouge"].get<std::string>(), HasSubstr("tokenizer char"));
  const std::vector<double> losses = Losses(Attempt(kSmallBatch) / "metrics.jsonl");
  EXPECT_LT(losses.back(), losses.front() / 2);
  EXPECT_GT(result["evaluation"]["metrics"]["ep/rouge1"]["mean"], .3) << "syllables of a summary are learned";
}

TEST_F(KoreanTexts, WarnIfTheTokenizerDropsThem) {
  const Finished run =
      Run("run " + std::string(kConfigs) + "05a_small_batch_high_accum.yaml" + small_ +
          " --set env.options.rouge_tokenizer=google --set budget.iterations=1 --set evaluation.every_iterations=0");
  ASSERT_EQ(run.exit, 0) << run.err;
  EXPECT_THAT(run.err + run.out + ReadFile(Attempt(kSmallBatch) / "stderr.log"), HasSubstr("not Latin"));
}

// Model folders of Hugging Face. Their numbers were recorded from transformers by `scripts/bart_oracle.py golden`.
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
