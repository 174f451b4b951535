// Compares the network with transformers, and with itself in other modes.
#include "bart.hpp"

#include <algorithm>

#include "golden.hpp"

namespace backplane::seq2seq {
namespace {

using testing::Golden;
using testing::GoldenModel;
using testing::MaxDifference;

struct Forward {
  std::vector<at::Tensor> encoder, decoder;
  at::Tensor logits, loss;
};

Forward Compute(const GoldenModel& m, Pass pass = {}, double smoothing = 0) {
  Forward out;
  const at::Tensor source = Golden("source"), labels = Golden("labels");
  const at::Tensor mask = PaddingMask(Golden("source_length"), source.size(1));
  const at::Tensor start = at::full({labels.size(0), 1}, m.config.decoder_start_token_id, labels.options());
  const at::Tensor shifted = at::cat({start, labels.narrow(1, 0, labels.size(1) - 1)}, 1);
  pass.trace = &out.encoder;
  const at::Tensor memory = Encode(m.config, m.weights, source, mask, pass);
  pass.trace = &out.decoder;
  const at::Tensor hidden =
      Decode(m.config, m.weights, shifted.masked_fill(shifted.eq(-100), m.config.pad_token_id), memory, mask, pass);
  const at::Tensor flat = hidden.view({-1, m.config.d_model}), places = labels.view({-1}).ne(-100).nonzero().squeeze(1);
  out.logits = Logits(m.weights, flat).view({labels.size(0), labels.size(1), -1});
  out.loss = LabelLoss(m.weights.output, flat.index_select(0, places), labels.view({-1}).index_select(0, places), smoothing) /
             places.numel();
  return out;
}

TEST(Bart, EqualsTransformers) {
  const GoldenModel m;
  const Forward run = Compute(m);
  for (const auto& [side, states] : {std::pair("encoder/", &run.encoder), {"decoder/", &run.decoder}}) {
    ASSERT_EQ(states->size(), 3u);
    for (size_t i = 0; i < 3; ++i) EXPECT_LE(MaxDifference((*states)[i], Golden(side + std::to_string(i))), 1e-5) << side << i;
  }
  EXPECT_LE(MaxDifference(run.logits, Golden("logits")), 1e-5);
  EXPECT_NEAR(run.loss.item<double>(), Golden("loss").item<double>(), 1e-6);
  EXPECT_NEAR(Compute(m, {}, .1).loss.item<double>(), Golden("smoothed/loss").item<double>(), 1e-6);
}

TEST(Bart, ScalesItsEmbeddingIfConfigured) {
  BartConfig config = testing::GoldenConfig();
  config.scale_embedding = true;
  const Forward run = Compute(GoldenModel(config));
  EXPECT_LE(MaxDifference(run.logits, Golden("scaled/logits")), 2e-5);  // of larger numbers
  EXPECT_NEAR(run.loss.item<double>(), Golden("scaled/loss").item<double>(), 1e-6);
}

TEST(Bart, HasTheGradientsOfTransformers) {
  const GoldenModel m;
  Compute(m).loss.backward();
  for (const Parameter& p : m.layout.parameters()) {
    if (p.name == "final_logits_bias" || p.name.ends_with("k_proj.bias")) continue;  // not trained; exactly 0 except for noise
    const at::Tensor golden = Golden("grad/" + p.name);
    double worst = 0;
    for (int64_t i = 0; i < golden.numel(); ++i)
      worst = std::max(worst, std::abs(double{m.gradient[p.offset + 3 * i]} - golden.data_ptr<float>()[i]));
    EXPECT_LE(worst, 1e-5 * golden.abs().max().item<double>()) << p.name;
  }
}

TEST(Bart, RecomputedLayersGiveTheSameGradientsWithDropoutOn) {
  BartConfig config = testing::GoldenConfig();
  config.dropout = .1, config.attention_dropout = .2, config.activation_dropout = .3;
  const GoldenModel plain(config), recomputed(config);
  const Forward a = Compute(plain, {.noise = Noise(5)}), b = Compute(recomputed, {.noise = Noise(5), .recompute = true});
  EXPECT_EQ(a.loss.item<float>(), b.loss.item<float>());
  a.loss.backward(), b.loss.backward();
  const float largest = std::abs(*std::max_element(plain.gradient.begin(), plain.gradient.end()));
  for (size_t i = 0; i < plain.gradient.size(); ++i)
    ASSERT_NEAR(plain.gradient[i], recomputed.gradient[i], 1e-6 * largest) << i;
  EXPECT_NE(Compute(plain, {.noise = Noise(6)}).loss.item<float>(), a.loss.item<float>());
}

TEST(Noise, KeepsTheMeanAndDependsOnStreamAndSite) {
  const at::Tensor x = at::full({400, 500}, 2.f);
  const Noise::Stream stream = Noise(7).Of(3), same = Noise(7).Of(3), other = Noise(7).Of(4), none;
  constexpr auto kSite = Noise::Site::kOut;
  const at::Tensor dropped = stream.Drop(x, .25, kSite);
  EXPECT_NEAR(dropped.eq(0).to(at::kFloat).mean().item<double>(), .25, .005);
  EXPECT_NEAR(dropped.mean().item<double>(), 2, .02);
  EXPECT_TRUE(dropped.equal(same.Drop(x, .25, kSite)));
  EXPECT_FALSE(dropped.equal(other.Drop(x, .25, kSite)));
  EXPECT_FALSE(dropped.equal(stream.Drop(x, .25, Noise::Site::kWide)));
  EXPECT_TRUE(none.Drop(x, .25, kSite).equal(x));
}

// An element's noise depends only on its text and its position there, not on the padding.
TEST(Noise, DoesNotDependOnPadding) {
  const Noise::Stream stream = Noise(7).Of(3);
  constexpr auto kSite = Noise::Site::kSelfShares;
  const at::Tensor wide = stream.Drop(at::ones({3, 4, 9, 11}), .25, kSite),
                   narrow = stream.Drop(at::ones({2, 4, 5, 7}), .25, kSite);
  EXPECT_TRUE(wide.narrow(0, 0, 2).narrow(2, 0, 5).narrow(3, 0, 7).equal(narrow));
  std::vector<float> row(7, 1.0f);
  stream.DropRow(row.data(), 7, .25, kSite, 1, Noise::Stream::RowOf(2, 4));
  EXPECT_TRUE(narrow[1][2][4].equal(at::from_blob(row.data(), {7})));
}

TEST(PaddingMask, HidesPositionsAfterALength) {
  EXPECT_FALSE(PaddingMask(at::full({2}, 3, at::kLong), 3).defined());
  const at::Tensor mask = PaddingMask(Golden("source_length"), 12);
  EXPECT_EQ(mask.lt(-1e38).sum().item<int64_t>(), 12 * 3 - 9 - 5 - 12);
  EXPECT_LT(mask[1][0][0][5].item<float>(), -1e38);
  EXPECT_EQ(mask[1][0][0][4].item<float>(), 0);
}

}  // namespace
}  // namespace backplane::seq2seq
