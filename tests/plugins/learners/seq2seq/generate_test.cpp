// Texts against those of transformers.
#include "generate.hpp"

#include <limits>

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

std::vector<Generated> Compute(const Setting& s, bool cache = true) {
  const GoldenModel m(s.config);
  return Generate(s.config, m.weights, Golden("source"), Golden("source_length"), s.options, cache);
}

TEST(Generate, GivesTheTextsAndScoresOfTransformers) {
  const nlohmann::json settings = testing::GoldenSettings("generate");
  ASSERT_EQ(settings.size(), 9u);
  for (size_t i = 0; i < settings.size(); ++i) {
    const Setting s = Parse(settings[i]);
    for (const bool cache : {true, false}) {
      SCOPED_TRACE(settings[i].dump() + (cache ? " with cache" : " without"));
      const std::vector<Generated> made = Compute(s, cache);
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

TEST(Generate, ASourceGetsTheSameTextAloneAndAmongOthers) {
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

TEST(Generate, SaysWhereScoresAreNotFinite) {
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
