// Compares our passes with transformers, and with LibTorch's over padded texts.
#include "training.hpp"

#include <c10/core/GradMode.h>

#include <algorithm>

#include "backplane/plugin.hpp"
#include "golden.hpp"
#include "texts.hpp"

namespace backplane::seq2seq {
namespace {

using testing::Golden;
using testing::GoldenModel;
using testing::RandomTexts;
using testing::Text;

std::vector<std::span<const int32_t>> PartsOf(const std::vector<Text>& texts, std::vector<int32_t> Text::*side) {
  std::vector<std::span<const int32_t>> spans;
  for (const Text& text : texts) spans.emplace_back(text.*side);
  return spans;
}

// The loss; adds its gradient to the model's.
double Train(const GoldenModel& m, const std::vector<Text>& texts, const Pass& pass, double smoothing, double divisor) {
  const c10::AutoGradMode no_gradient(false);
  Training training(m.config, m.weights, pass, smoothing);
  const double loss = training.Forward(PartsOf(texts, &Text::source), PartsOf(texts, &Text::label), divisor);
  training.Backward();
  return loss;
}

at::Tensor Padded(const std::vector<std::span<const int32_t>>& texts, int64_t fill) {
  size_t width = 0;
  for (const auto& text : texts) width = std::max(width, text.size());
  at::Tensor ids = at::full({static_cast<int64_t>(texts.size()), static_cast<int64_t>(width)}, fill, at::kLong);
  for (size_t i = 0; i < texts.size(); ++i)
    for (size_t t = 0; t < texts[i].size(); ++t) ids[static_cast<int64_t>(i)][static_cast<int64_t>(t)] = texts[i][t];
  return ids;
}

// The same with LibTorch's operations and autograd.
double TrainPadded(const GoldenModel& m, const std::vector<Text>& texts, const Pass& pass, double smoothing, double divisor) {
  const auto sources = PartsOf(texts, &Text::source);
  const at::Tensor source = Padded(sources, 7), labels = Padded(PartsOf(texts, &Text::label), -100);
  at::Tensor lengths = at::empty({source.size(0)}, at::kLong);
  for (size_t i = 0; i < sources.size(); ++i) lengths[static_cast<int64_t>(i)] = static_cast<int64_t>(sources[i].size());
  const at::Tensor mask = PaddingMask(lengths, source.size(1));
  const at::Tensor start = at::full({labels.size(0), 1}, m.config.decoder_start_token_id, at::kLong);
  const at::Tensor input = at::cat({start, labels.narrow(1, 0, labels.size(1) - 1)}, 1).clamp_min(0);
  const at::Tensor memory = Encode(m.config, m.weights, source, mask, pass);
  const at::Tensor hidden = Decode(m.config, m.weights, input, memory, mask, pass).reshape({-1, m.config.d_model});
  const at::Tensor flat = labels.reshape({-1}), places = flat.ne(-100).nonzero().squeeze(1);
  const at::Tensor loss =
      LabelLoss(m.weights.output, hidden.index_select(0, places), flat.index_select(0, places), smoothing) / divisor;
  loss.backward();
  return loss.item<double>();
}

void ExpectSameGradients(const GoldenModel& a, const GoldenModel& b, double relative) {
  for (const Parameter& p : a.layout.parameters()) {
    // Not trained; exactly 0 except for noise.
    if (p.name == "final_logits_bias" || p.name.ends_with("k_proj.bias")) continue;
    double difference = 0, size = 0;
    for (int64_t i = p.offset; i < p.offset + p.size; ++i) {
      const auto at = static_cast<size_t>(i);
      difference = std::max(difference, std::abs(double{a.gradient[at]} - b.gradient[at]));
      size = std::max(size, std::abs(double{b.gradient[at]}));
    }
    EXPECT_LE(difference, relative * size) << p.name;
  }
}

TEST(Training, HasTheLossAndTheGradientsOfTransformers) {
  const GoldenModel m;
  const at::Tensor source = Golden("source"), lengths = Golden("source_length"), labels = Golden("labels");
  std::vector<Text> texts(3);
  double tokens = 0;
  for (int64_t i = 0; i < 3; ++i) {
    Text& text = texts[static_cast<size_t>(i)];
    for (int64_t t = 0; t < lengths[i].item<int64_t>(); ++t) text.source.push_back(source[i][t].item<int32_t>());
    for (int64_t t = 0; t < 8 && labels[i][t].item<int64_t>() >= 0; ++t) text.label.push_back(labels[i][t].item<int32_t>());
    tokens += static_cast<double>(text.label.size());
  }
  EXPECT_NEAR(Train(m, texts, {}, .1, tokens), Golden("smoothed/loss").item<double>(), 1e-6);
  const GoldenModel plain;
  EXPECT_NEAR(Train(plain, texts, {}, 0, tokens), Golden("loss").item<double>(), 1e-6);
  for (const Parameter& p : plain.layout.parameters()) {
    if (p.name == "final_logits_bias" || p.name.ends_with("k_proj.bias")) continue;
    const at::Tensor golden = Golden("grad/" + p.name);
    double worst = 0;
    for (int64_t i = 0; i < golden.numel(); ++i)
      worst = std::max(worst,
                       std::abs(double{plain.gradient[static_cast<size_t>(p.offset + 3 * i)]} - golden.data_ptr<float>()[i]));
    EXPECT_LE(worst, 2e-5 * golden.abs().max().item<double>()) << p.name;
  }
}

// Texts of one token, of equal length, and of any length, in more rows than a block. All options that change the sums are on.
TEST(Training, IsThePaddedPassWithoutThePadding) {
  auto texts = RandomTexts(24, 97, 38, 30, 5);
  texts[3].source = {0}, texts[4].label = {2}, texts[5] = {{9}, {2}};
  texts[7] = texts[6];
  texts[8].source[1] = 1;  // the token of padding, whose embedding is not trained
  BartConfig config = testing::GoldenConfig();
  for (const bool dropout : {false, true}) {
    if (dropout) config.dropout = .1, config.attention_dropout = .2, config.activation_dropout = .3;
    config.scale_embedding = dropout;
    const Pass pass{.noise = dropout ? Noise(5) : Noise()};
    const GoldenModel own(config), padded(config);
    const double smoothing = dropout ? .1 : 0;
    EXPECT_NEAR(Train(own, texts, pass, smoothing, 100), TrainPadded(padded, texts, pass, smoothing, 100), 1e-5);
    ExpectSameGradients(own, padded, 2e-5);
  }
}

TEST(Training, RecomputedLayersGiveTheSameBits) {
  const auto texts = RandomTexts(9, 97, 38, 30, 6);
  BartConfig config = testing::GoldenConfig();
  config.dropout = .1, config.attention_dropout = .2, config.activation_dropout = .3;
  const GoldenModel plain(config), recomputed(config);
  EXPECT_EQ(Train(plain, texts, {.noise = Noise(5)}, 0, 1),
            Train(recomputed, texts, {.noise = Noise(5), .recompute = true}, 0, 1));
  EXPECT_EQ(plain.gradient, recomputed.gradient);
}

TEST(Training, ATextWithoutALabelTeachesNothing) {
  auto texts = RandomTexts(3, 97, 38, 30, 7);
  const GoldenModel with, without;
  texts[1].label.clear();
  const double loss = Train(with, texts, {}, 0, 10);
  EXPECT_EQ(loss, Train(without, {texts[0], texts[2]}, {}, 0, 10));
  ExpectSameGradients(with, without, 1e-6);
  const GoldenModel none;
  EXPECT_EQ(Train(none, {texts[1]}, {}, 0, 10), 0);
  for (const float each : none.gradient) ASSERT_EQ(each, 0);
}

TEST(Training, RejectsTokensAndLengthsThatTheNetworkLacks) {
  const GoldenModel m;
  for (const Text& text :
       {Text{{97}, {5}}, Text{{5}, {97}}, Text{{5}, {-1}}, Text{std::vector<int32_t>(41, 5), {5}}, Text{{}, {5}}})
    EXPECT_THROW(Train(m, {text}, {}, 0, 1), bp::Error);
}

}  // namespace
}  // namespace backplane::seq2seq
