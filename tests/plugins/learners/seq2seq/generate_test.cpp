// Compares texts with transformers' texts.
#include "generate.hpp"

#include <limits>
#include <numeric>

#include "backplane/plugin.hpp"
#include "golden.hpp"

namespace backplane::seq2seq {
namespace {

using testing::Golden;
using testing::GoldenModel;

struct Setting {
  BartConfig config = testing::GoldenConfig();
  GenerateOptions options;
};

Setting Parse(const nlohmann::json& json) {
  Setting s;
  s.options.num_beams = json.at("num_beams");
  s.options.length_penalty = json.value("length_penalty", 1.0);
  s.options.max_length = json.value("max_length", 20);
  s.options.min_length = json.value("min_length", 0);
  s.options.no_repeat_ngram_size = json.value("no_repeat_ngram_size", 0);
  s.config.forced_bos_token_id = json.value("forced_bos_token_id", -1);
  const nlohmann::json early = json.value("early_stopping", nlohmann::json(false));
  s.options.early_stopping = early == "never" ? EarlyStopping::kNever
                             : early == true  ? EarlyStopping::kYes
                                              : EarlyStopping::kNo;
  return s;
}

// The golden source's rows without their padding.
std::vector<std::vector<int32_t>> Sources() {
  const at::Tensor ids = Golden("source"), lengths = Golden("source_length");
  std::vector<std::vector<int32_t>> sources(static_cast<size_t>(ids.size(0)));
  for (size_t row = 0; row < sources.size(); ++row) {
    for (int64_t i = 0; i < lengths[static_cast<int64_t>(row)].item<int64_t>(); ++i)
      sources[row].push_back(static_cast<int32_t>(ids[static_cast<int64_t>(row)][i].item<int64_t>()));
  }
  return sources;
}

enum class How { kCached, kWhole, kInference };

std::vector<Generated> Compute(const Setting& s, How how = How::kCached) {
  const GoldenModel m(s.config);
  if (how != How::kInference)
    return Generate(s.config, m.weights, Golden("source"), Golden("source_length"), s.options, how == How::kCached);
  const auto sources = Sources();
  const Inference network(m.config, m.layout, m.flat.data());
  return Generate(s.config, network, network.Encode({sources.begin(), sources.end()}), s.options);
}

TEST(Generate, GivesTheTextsAndScoresOfTransformers) {
  const nlohmann::json settings = testing::GoldenSettings("generate");
  ASSERT_EQ(settings.size(), 9u);
  for (size_t i = 0; i < settings.size(); ++i) {
    const Setting s = Parse(settings[i]);
    for (const How how : {How::kCached, How::kWhole, How::kInference}) {
      SCOPED_TRACE(settings[i].dump() + (how == How::kCached  ? " with cache"
                                         : how == How::kWhole ? " without"
                                                              : " by inference"));
      const std::vector<Generated> made = Compute(s, how);
      const std::string name = "generate/" + std::to_string(i);
      const at::Tensor golden = Golden(name + "/ids");
      for (int64_t row = 0; row < golden.size(0); ++row) {
        std::vector<int64_t> ids = made[row].ids;
        ids.resize(golden.size(1), s.config.pad_token_id);
        for (int64_t t = 0; t < golden.size(1); ++t) EXPECT_EQ(ids[t], golden[row][t].item<int64_t>()) << row << ", " << t;
        if (s.options.num_beams == 1) continue;
        EXPECT_NEAR(made[row].score, Golden(name + "/scores")[row].item<double>(), 1e-4) << row;
      }
    }
  }
}

TEST(Generate, ASourcesTextDoesNotDependOnOthers) {
  const Setting s = Parse(testing::GoldenSettings("generate")[5]);
  const GoldenModel m(s.config);
  const auto all = Compute(s);
  const at::Tensor ids = Golden("source"), lengths = Golden("source_length");
  for (int64_t row = 0; row < 3; ++row) {
    const at::Tensor length = lengths.narrow(0, row, 1);
    const at::Tensor own = ids.narrow(0, row, 1).narrow(1, 0, length.item<int64_t>());
    EXPECT_EQ(Generate(s.config, m.weights, own, length, s.options)[0].ids, all[row].ids);
  }
}

TEST(Inference, ATextsScoresDoNotDependOnOthers) {
  const GoldenModel m;
  const Inference network(m.config, m.layout, m.flat.data());
  const auto sources = Sources();
  const int64_t n = static_cast<int64_t>(sources.size());
  std::vector<int64_t> each(sources.size());
  std::iota(each.begin(), each.end(), int64_t{0});
  const std::vector<Inference::Source> all = network.Encode({sources.begin(), sources.end()});
  Inference::Decoding together(network, all, each);
  const std::vector<int64_t> tokens(sources.size(), m.config.decoder_start_token_id);
  const auto bits = [&](const float* scores) { return std::vector<float>(scores, scores + m.config.vocab_size); };
  std::vector<std::vector<float>> first, second;
  const float* scores = together.Next(tokens);
  for (int64_t i = 0; i < n; ++i) first.push_back(bits(scores + i * m.config.vocab_size));
  // Only the last text remains, because the others are done.
  together.Reorder({n - 1});
  second.push_back(bits(together.Next({7})));
  for (int64_t i = 0; i < n; ++i) {
    const std::vector<Inference::Source> one = network.Encode({sources[static_cast<size_t>(i)]});
    Inference::Decoding alone(network, one, {0});
    EXPECT_EQ(bits(alone.Next({m.config.decoder_start_token_id})), first[static_cast<size_t>(i)]) << i;
    if (i < n - 1) continue;
    EXPECT_EQ(bits(alone.Next({7})), second[0]);
  }
}

TEST(Inference, RejectsTokensAndPositionsThatTheNetworkLacks) {
  const GoldenModel m;
  const Inference network(m.config, m.layout, m.flat.data());
  const std::vector<int32_t> wrong = {0, static_cast<int32_t>(m.config.vocab_size)}, negative = {-1},
                             long_text(static_cast<size_t>(m.config.max_position_embeddings) + 1, 3);
  for (const auto& text : {wrong, negative, long_text}) EXPECT_THROW(network.Encode({text}), bp::Error);
}

TEST(Generate, ReportsScoresThatAreNotFinite) {
  GoldenModel m;
  std::fill(m.flat.begin(), m.flat.end(), std::numeric_limits<float>::quiet_NaN());
  for (const int64_t beams : {1, 3}) {
    try {
      Generate(m.config, m.weights, Golden("source"), Golden("source_length"), {.num_beams = beams});
      ADD_FAILURE() << "a text was written with " << beams << " beams";
    } catch (const bp::Error& e) {
      EXPECT_EQ(e.code(), BP_E_NUMERIC);
      EXPECT_NE(std::string(e.what()).find("are not finite"), std::string::npos) << e.what();
    }
  }
}

}  // namespace
}  // namespace backplane::seq2seq
