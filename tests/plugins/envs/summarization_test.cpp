// The plugin through its channels: a data set for training, and a one-step env for evaluation.
#include <gmock/gmock.h>

#include <set>

#include "backplane/ext/source.h"
#include "places.hpp"
#include "support/env_harness.hpp"
#include "support/summaries.hpp"
#include "vocabulary.hpp"

namespace backplane::summarization {
namespace {

using nlohmann::json;
using testing::ElementsAre, testing::HasSubstr, testing::IsEmpty, testing::SizeIs;

const std::string kSummarization = BACKPLANE_PLUGIN_DIR "/env_summarization.so";
const Summaries& files() { return Summaries::Instance(); }

json Options(const std::string& data, const json& more = json::object()) {
  json options = files().options(data);
  options.update(more);
  return options;
}
std::string Refusal(const json& options) {
  try {
    harness::Env env(kSummarization, 1, 1, options);
  } catch (const std::runtime_error& e) {
    return e.what();
  }
  return "not refused";
}

// Items in buffers with padded rows; all channels other than the items' are absent.
struct Items {
  std::vector<std::vector<int32_t>> obs, label;
  std::vector<float> weight;
};
const bp_env_source_1& Source(const harness::Env& env) {
  return *static_cast<const bp_env_source_1*>(env.api().get_extension(env.get(), BP_ENV_SOURCE_1));
}
Items Read(const harness::Env& env, uint64_t seed, uint64_t first, uint64_t n) {
  constexpr int64_t kPadding = 5;
  std::deque<std::vector<int64_t>> sizes;
  std::deque<std::vector<int32_t>> data;
  std::deque<bp_tensor> tensors;
  std::vector<bp_tensor*> pointers;
  std::map<std::string, size_t> index;
  for (uint64_t c = 0; c < env.spec().n_channels; ++c) {
    const bp_channel& channel = env.spec().channels[c];
    const bool item = channel.role == BP_ROLE_OBS || channel.role == BP_ROLE_LENGTH || channel.role == BP_ROLE_LABEL ||
                      channel.role == BP_ROLE_WEIGHT;
    pointers.push_back(nullptr);
    if (!item) continue;
    const int64_t width = channel.ndim ? channel.shape[0] : 1;
    sizes.push_back({static_cast<int64_t>(n), width});
    sizes.push_back({width + kPadding, 1});
    data.emplace_back(n * (width + kPadding), -9);
    tensors.push_back({data.back().data(),
                       {BP_DEVICE_CPU, 0},
                       1 + channel.ndim,
                       channel.dtype,
                       sizes[sizes.size() - 2].data(),
                       sizes.back().data(),
                       0});
    pointers.back() = &tensors.back();
    index[channel.name] = tensors.size() - 1;
  }
  const bp_frame frame{sizeof(bp_frame), 0, pointers.data(), nullptr};
  EXPECT_EQ(Source(env).read(env.get(), seed, first, n, &frame), BP_OK) << env.error();
  Items out;
  const auto row = [&](const std::string& name, uint64_t i) {
    return static_cast<int32_t*>(tensors[index[name]].data) + i * tensors[index[name]].strides[0];
  };
  for (uint64_t i = 0; i < n; ++i) {
    for (const std::string name : {"obs", "label"}) {
      const int32_t* tokens = row(name, i);
      const int32_t length = *row(name + "_length", i);
      const int64_t width = tensors[index[name]].shape[1];
      for (int64_t at = length; at < width; ++at) EXPECT_EQ(tokens[at], 1) << "padding";
      for (int64_t at = width; at < width + kPadding; ++at) EXPECT_EQ(tokens[at], -9) << "beyond the row";
      (name == "obs" ? out.obs : out.label).emplace_back(tokens, tokens + length);
    }
    float weight;
    std::memcpy(&weight, row("weight", i), sizeof weight);
    out.weight.push_back(weight);
  }
  return out;
}

TEST(Source, GivesTheFileInItsOrderForSeedZero) {
  harness::Env env(kSummarization, 2, 1, Options("english.tsv"));
  const Vocabulary pieces(files().File("spm.model"));
  const auto pairs = Summaries::English();
  ASSERT_EQ(Source(env).length(env.get()), pairs.size());
  const Items items = Read(env, 0, 0, pairs.size());
  for (size_t i = 0; i < pairs.size(); ++i) {
    EXPECT_EQ(pieces.Decode(items.obs[i]), pairs[i].first);
    EXPECT_EQ(pieces.Decode(items.label[i]), pairs[i].second);
    EXPECT_EQ(items.label[i].front(), 0);
    EXPECT_EQ(items.label[i].back(), 2);
    EXPECT_EQ(items.weight[i], items.label[i].size());
  }
}

TEST(Source, GivesEveryItemOnceInAnOrderOfTheSeed) {
  harness::Env env(kSummarization, 1, 1, Options("english.tsv")), other(kSummarization, 3, 1, Options("english.tsv"));
  const uint64_t n = Source(env).length(env.get());
  const Items file = Read(env, 0, 0, n), of_5 = Read(env, 5, 0, n);
  EXPECT_NE(of_5.obs, file.obs);
  EXPECT_EQ(std::multiset(of_5.obs.begin(), of_5.obs.end()), std::multiset(file.obs.begin(), file.obs.end()));
  EXPECT_EQ(Read(other, 5, 0, n).obs, of_5.obs);
  // In parts, from any position, with a different order in between.
  for (uint64_t first = 0; first < n; ++first) {
    Read(env, 6, 0, 1);
    const Items one = Read(env, 5, first, 1);
    EXPECT_EQ(one.obs[0], of_5.obs[first]);
    EXPECT_EQ(one.label[0], of_5.label[first]);
  }
}

TEST(Source, StaysWithinItsItems) {
  harness::Env env(kSummarization, 1, 1, Options("english.tsv", {{"max_items", 3}}));
  ASSERT_EQ(Source(env).length(env.get()), 3u);
  std::vector<bp_tensor*> none(env.spec().n_channels, nullptr);
  const bp_frame frame{sizeof(bp_frame), 0, none.data(), nullptr};
  EXPECT_EQ(Source(env).read(env.get(), 0, 2, 2, &frame), BP_E_INVALID_ARG);
}

// Row r's action becomes the ids, followed by end and padding.
void Generate(const harness::Env& env, uint64_t row, std::vector<int32_t> ids) {
  ids.resize(env.Size("action"), 1);
  std::copy(ids.begin(), ids.end(), env.At<int32_t>("action", row));
}
std::vector<int32_t> Label(const harness::Env& env, uint64_t row) {
  return {env.At<int32_t>("label", row), env.At<int32_t>("label", row) + *env.At<int32_t>("label_length", row)};
}

TEST(OneStep, TheSameTextScoresOne) {
  for (const json& more :
       {json{}, json{{"rouge_tokenizer", "whitespace"}}, json{{"rouge_tokenizer", "char"}}, json{{"rouge_stem", true}}}) {
    const uint64_t rows = Summaries::English().size();
    harness::Env env(kSummarization, rows, 1, Options("english.tsv", more.is_null() ? json::object() : more));
    const Items items = Read(env, 0, 0, rows);
    ASSERT_EQ(env.Reset(0, std::vector<uint64_t>(rows)), BP_OK);
    for (uint64_t r = 0; r < rows; ++r) Generate(env, r, items.label[r]);
    ASSERT_EQ(env.Step(), BP_OK) << env.error();
    for (uint64_t r = 0; r < rows; ++r) {
      for (const char* name : {"reward", "ep/rouge1", "ep/rouge2", "ep/rougeL", "ep/rougeLsum"})
        EXPECT_EQ(*env.At<float>(name, r), 1) << name;
      EXPECT_EQ(*env.At<float>("ep/generated_tokens", r), items.label[r].size() - 2);
      EXPECT_EQ(*env.At<uint8_t>("terminated", r), 1);
      EXPECT_EQ(Label(env, r), items.label[r]);
      EXPECT_EQ(*env.At<float>("weight", r), items.label[r].size());
    }
  }
}

// "The quick brown fox ...", R1 .70588, R2 .26667, RL .58824 (reference of rouge_score 0.1.2), against the summary of a file.
TEST(OneStep, ScoresAgainstTheFilesOwnText) {
  const std::string fox = "The quick brown fox jumps over the lazy dog", dog = "The quick brown dog jumps on the log.";
  files().Write("fox.jsonl", json{{"document", fox}, {"summary", {"nothing alike", dog}}}.dump());
  files().Write("fox.txt", fox + "\n" + dog + "\nnothing alike\n");
  ASSERT_TRUE(sentencepiece::SentencePieceTrainer::Train(
                  "--input=" + files().File("fox.txt") + " --model_prefix=" + files().File("fox") +
                  " --vocab_size=60 --hard_vocab_limit=false --bos_id=0 --pad_id=1 --eos_id=2 --unk_id=3 "
                  "--num_threads=1 --minloglevel=2")
                  .ok());
  const Vocabulary pieces(files().File("fox.model"));
  std::vector<int32_t> ids;
  pieces.Encode(fox, 100, &ids);
  for (const auto& [multi_ref, share] : {std::pair{"max", 1.0}, std::pair{"mean", 0.5}}) {
    harness::Env env(kSummarization, 1, 1,
                     {{"data", files().File("fox.jsonl")},
                      {"tokenizer", files().File("fox.model")},
                      {"max_generated_length", 100},
                      {"rouge_multi_ref", multi_ref}});
    ASSERT_EQ(env.Reset(0, {1}), BP_OK);
    Generate(env, 0, ids);
    ASSERT_EQ(env.Step(), BP_OK) << env.error();
    EXPECT_NEAR(*env.At<float>("ep/rouge1"), .70588 * share, 1e-5);
    EXPECT_NEAR(*env.At<float>("ep/rouge2"), .26667 * share, 1e-5);
    EXPECT_NEAR(*env.At<float>("ep/rougeL"), .58824 * share, 1e-5);
    EXPECT_EQ(*env.At<float>("reward"), *env.At<float>("ep/rougeL"));
  }
}

TEST(OneStep, ATextEndsAtTheFirstEndOrPadding) {
  harness::Env env(kSummarization, 4, 1, Options("english.tsv"));
  ASSERT_EQ(env.Reset(0, {1, 2, 3, 4}), BP_OK);
  Generate(env, 0, {0, 10, 11, 2, 12, 13});
  Generate(env, 1, {0, 0, 10, 1, 12});
  Generate(env, 2, {2, 10, 11});
  Generate(env, 3, std::vector<int32_t>(env.Size("action"), 10));
  ASSERT_EQ(env.Step(), BP_OK);
  for (const auto& [row, tokens] : {std::pair{0, 2}, {1, 1}, {2, 0}, {3, 32}})
    EXPECT_EQ(*env.At<float>("ep/generated_tokens", row), tokens);
  EXPECT_EQ(*env.At<float>("reward", 2), 0);
}

TEST(OneStep, AnIdOutsideTheVocabularyIsAnError) {
  harness::Env env(kSummarization, 2, 1, Options("english.tsv"));
  ASSERT_EQ(env.Reset(0, {1, 2}), BP_OK);
  for (const int32_t id : {-1, static_cast<int32_t>(env.spec().channels[0].nvec[0]), INT32_MAX, INT32_MIN}) {
    Generate(env, 0, {2});
    Generate(env, 1, {0, 10, id});
    EXPECT_EQ(env.Step(), BP_E_INVALID_ARG);
    EXPECT_THAT(env.error(), HasSubstr("row 1: action[2]: expected a token, 0 .. "));
    EXPECT_THAT(env.error(), HasSubstr("got " + std::to_string(id)));
    Generate(env, 1, {0, 10, 2, id});  // ignored after the end
    EXPECT_EQ(env.Step(), BP_OK);
  }
}

TEST(OneStep, RowsShareTheItemsAndABeginningIsABeginning) {
  const uint64_t items = Summaries::English().size();
  harness::Env env(kSummarization, 3, 1, Options("english.tsv"));
  const Items all = Read(env, 0, 0, items);
  const std::vector<uint8_t> every(3, 1);
  const auto expect = [&](uint64_t row, uint64_t item) {
    const int32_t* obs = env.At<int32_t>("obs", row);
    EXPECT_EQ(std::vector(obs, obs + *env.At<int32_t>("obs_length", row)), all.obs[item % items]) << row;
  };
  for (int evaluation = 0; evaluation < 2; ++evaluation) {
    ASSERT_EQ(env.Reset(0, {4, 5, 6}), BP_OK);
    for (uint64_t turn = 0; turn < 5; ++turn) {
      for (uint64_t r = 0; r < 3; ++r) expect(r, r + 3 * turn);
      ASSERT_EQ(env.Reset(0, {4, 5, 6}, every.data()), BP_OK);
    }
  }
  harness::Env masked(kSummarization, 3, 1, Options("english.tsv"));
  ASSERT_EQ(masked.Reset(0, {4, 5, 6}, every.data()), BP_OK);
  EXPECT_EQ(std::memcmp(masked.At<int32_t>("obs", 2), Read(env, 0, 2, 1).obs[0].data(), 8), 0);
}

TEST(Korean, TheSameTextScoresOneByCharacters) {
  const uint64_t rows = Summaries::Korean().size();
  for (const auto& [tokenizer, score] : {std::pair{"char", 1.0f}, {"whitespace", 1.0f}, {"google", 0.0f}}) {
    harness::Env env(kSummarization, rows, 1, Options("korean.tsv", {{"rouge_tokenizer", tokenizer}}));
    const Items items = Read(env, 0, 0, rows);
    ASSERT_EQ(env.Reset(0, std::vector<uint64_t>(rows)), BP_OK);
    for (uint64_t r = 0; r < rows; ++r) Generate(env, r, items.label[r]);
    ASSERT_EQ(env.Step(), BP_OK);
    for (uint64_t r = 0; r < rows; ++r) EXPECT_EQ(*env.At<float>("reward", r), score) << tokenizer;
    if (score == 0)
      EXPECT_THAT(env.warnings(), ElementsAre(HasSubstr("100 % of the summaries' letters are not Latin")));
    else
      EXPECT_THAT(env.warnings(), IsEmpty());
  }
  EXPECT_THAT(harness::Env(kSummarization, 1, 1, Options("english.tsv")).warnings(), IsEmpty());
}

TEST(Pltrdy, ATextOfDotsCountsNothing) {
  harness::Env env(kSummarization, 1, 1, Options("english.tsv", {{"rouge_impl", "pltrdy"}}));
  ASSERT_EQ(env.Reset(0, {1}), BP_OK);
  Generate(env, 0, {2});
  ASSERT_EQ(env.Step(), BP_OK) << env.error();
  EXPECT_EQ(*env.At<float>("reward"), 0);
}

TEST(Options, RejectsImpossibleValuesWithTheirReason) {
  EXPECT_THAT(Refusal(Options("nowhere.tsv")),
              HasSubstr("does not exist; to make the corpus of package descriptions and its tokenizer: "
                        "$(backplane sdk --sharedir)/build_corpus --out "));
  EXPECT_THAT(Refusal({{"data", files().File("english.tsv")}, {"tokenizer", "nowhere.model"}}),
              HasSubstr("tokenizer: 'nowhere.model' does not exist"));
  EXPECT_THAT(Refusal(Options("lines.txt")), HasSubstr("expected a name that ends in .csv, .tsv or .jsonl, got '"));
  EXPECT_THAT(Refusal(Options("english.tsv", {{"source_key", "news"}})),
              HasSubstr("has no column 'news'; columns: 'document', 'summary'"));
  EXPECT_THAT(Refusal(Options("english.tsv", {{"target_key", "summary,"}})),
              HasSubstr("target_key: expected names of columns, separated by commas, got 'summary,'"));
  EXPECT_THAT(Refusal(Options("english.tsv", {{"rouge_tokenizer", "char"}, {"rouge_stem", true}})), HasSubstr("rouge_*: "));
}

TEST(Options, OneWarningListsTheOmittedRows) {
  files().Write("bad.tsv", "document\tsummary\na\tb\nc\t\nd\te\nf\t \n");
  EXPECT_THAT(Refusal(Options("bad.tsv")),
              HasSubstr("row 2 (line 3): 'summary' is empty; to leave out such rows, set `bad_rows: skip`"));
  const harness::Env env(kSummarization, 1, 1, Options("bad.tsv", {{"bad_rows", "skip"}}));
  EXPECT_THAT(env.warnings(),
              ElementsAre(HasSubstr("2 rows left out, 2 used; the first left out: row 2 (line 3): 'summary' is empty")));
}

}  // namespace
}  // namespace backplane::summarization
