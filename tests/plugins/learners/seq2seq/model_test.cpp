// Updates: accumulation, normalisation, AdamW, memory.
#include "model.hpp"

#include <ATen/Parallel.h>

#include <thread>

#include "backplane/plugin.hpp"
#include "golden.hpp"
#include "texts.hpp"
#include "torch/budget.hpp"

namespace backplane::seq2seq {
namespace {

using testing::Group;
using testing::RandomTexts;

const bp_host& Quiet() {
  static const bp_host host = [] {
    bp_host h{sizeof(bp_host)};
    h.get_extension = [](const bp_host*, const char*) -> const void* { return nullptr; };
    return h;
  }();
  return host;
}

BartConfig NoDropout() {
  BartConfig c = testing::GoldenConfig();
  c.max_position_embeddings = 64;
  return c;
}

std::unique_ptr<Model> Make(const BartConfig& config, const ModelOptions& options = {}) {
  at::set_num_threads(1);  // as in a trial
  torch_common::MeterCpuMemory();
  auto model = MakeModel(config, options, &Quiet());
  InitWeights(config, model->layout(), 1, model->weights());
  return model;
}

// One step of plain AdamW hides the gradient's size, so its first moment replaces the gradient: m = (1 - beta1) g.
std::vector<float> GradientOf(Model* model, const Group& group, uint64_t seed = 0, double* loss = nullptr) {
  double sum = 0;
  for (size_t k = 0; k < group.batches.size(); ++k) sum += model->Backward(0, group.batches[k], group.weight, seed + k);
  if (loss) *loss = sum;
  const int64_t n = model->layout().trained();
  std::fill_n(model->first_moment(), n, 0.f);
  model->Step(0);
  return {model->first_moment(), model->first_moment() + n};
}

double Distance(const std::vector<float>& a, const std::vector<float>& b) {
  double difference = 0, size = 0;
  for (size_t i = 0; i < a.size(); ++i) difference += std::pow(double{a[i]} - b[i], 2), size += std::pow(double{b[i]}, 2);
  return std::sqrt(difference / size);
}

TEST(Accumulation, TheCutOfAnUpdateChangesNothing) {
  const auto texts = RandomTexts(64, 97, 40, 20, 5);
  const auto model = Make(NoDropout(), {.max_grad_norm = 0});
  double whole_loss, loss;
  const auto whole = GradientOf(model.get(), Group(texts, 64, false), 0, &whole_loss);
  for (const auto& [m, sort] :
       {std::pair<int64_t, bool>{64, true}, {16, false}, {16, true}, {8, false}, {8, true}, {4, true}, {7, true}}) {
    EXPECT_LE(Distance(GradientOf(model.get(), Group(texts, m, sort), 0, &loss), whole), 1e-5) << m << sort;
    EXPECT_NEAR(loss, whole_loss, 1e-5);
  }
}

TEST(Accumulation, AShortGroupIsDividedByItsOwnTokens) {
  auto texts = RandomTexts(64, 97, 40, 20, 6);
  texts.resize(11);
  const auto model = Make(NoDropout(), {.max_grad_norm = 0});
  const auto whole = GradientOf(model.get(), Group(texts, 11, false));
  EXPECT_LE(Distance(GradientOf(model.get(), Group(texts, 4, true)), whole), 1e-5);
}

TEST(Accumulation, PaddingOfAnyValueChangesNothing) {
  const auto texts = RandomTexts(8, 97, 40, 20, 7);
  const auto model = Make(NoDropout(), {.max_grad_norm = 0});
  const auto a = GradientOf(model.get(), Group(texts, 8, true, 1));
  EXPECT_LE(Distance(GradientOf(model.get(), Group(texts, 8, true, 50)), a), 1e-6);
}

TEST(Workers, GiveTheSameBitsEachTimeAndTheSumOfOne) {
  BartConfig config = NoDropout();
  config.dropout = .1;
  const Group group(RandomTexts(32, 97, 40, 20, 8), 8, true);
  const auto parallel = [&] {
    const auto model = Make(config, {.workers = 2, .max_grad_norm = 0});
    for (size_t k = 0; k < 4; k += 2) {
      std::thread other([&] { model->Backward(1, group.batches[k + 1], group.weight, k + 1); });
      model->Backward(0, group.batches[k], group.weight, k);
      other.join();
    }
    model->Step(1e-3);
    return std::vector<float>(model->first_moment(), model->first_moment() + model->layout().trained());
  };
  const auto first = parallel();
  for (int i = 0; i < 5; ++i) ASSERT_EQ(parallel(), first);
  EXPECT_LE(Distance(first, GradientOf(Make(config, {.max_grad_norm = 0}).get(), group)), 1e-5);
}

TEST(Workers, SharesOfMicroBatchesAreTheWholeOfThem) {
  const auto texts = RandomTexts(13, 97, 40, 20, 8);
  const Group group(texts, 5, true);
  const auto whole = Make(NoDropout(), {.max_grad_norm = 0}), shared = Make(NoDropout(), {.workers = 3, .max_grad_norm = 0});
  double loss = 0, shares = 0;
  for (const MicroBatch& batch : group.batches) loss += whole->Backward(0, batch, group.weight, 0);
  for (int64_t worker = 0; worker < 3; ++worker) shares += shared->BackwardOfShare(worker, group.batches, group.weight, 0);
  EXPECT_NEAR(shares, loss, 1e-6);
  whole->Step(0), shared->Step(0);
  const int64_t n = whole->layout().trained();
  EXPECT_LE(Distance({shared->first_moment(), shared->first_moment() + n}, {whole->first_moment(), whole->first_moment() + n}),
            1e-5);
}

TEST(Dropout, IsAFunctionOfTheSeed) {
  BartConfig config = NoDropout();
  config.dropout = config.attention_dropout = config.activation_dropout = .2;
  const Group group(RandomTexts(8, 97, 40, 20, 9), 4, true);
  const auto gradient = [&](uint64_t seed, bool recompute) {
    return GradientOf(Make(config, {.recompute = recompute}).get(), group, seed);
  };
  EXPECT_EQ(gradient(1, false), gradient(1, false));
  EXPECT_GT(Distance(gradient(10, false), gradient(1, false)), .01);
  EXPECT_LE(Distance(gradient(1, true), gradient(1, false)), 1e-6);
}

TEST(AdamW, TwentyUpdatesFollowTransformers) {
  const BartConfig config = testing::GoldenConfig();
  const auto model = Make(config, {.beta2 = .98, .weight_decay = .01});
  for (const Parameter& p : model->layout().parameters())
    std::copy_n(testing::Golden("weights/" + p.name).data_ptr<float>(), p.size, model->weights() + p.offset);
  std::vector<testing::Text> texts(3);
  const at::Tensor source = testing::Golden("source"), lengths = testing::Golden("source_length"),
                   labels = testing::Golden("labels");
  for (int64_t i = 0; i < 3; ++i) {
    for (int64_t t = 0; t < lengths[i].item<int64_t>(); ++t) texts[i].source.push_back(source[i][t].item<int32_t>());
    for (int64_t t = 0; t < 8 && labels[i][t].item<int64_t>() >= 0; ++t) texts[i].label.push_back(labels[i][t].item<int32_t>());
  }
  const Group group(texts, 2, true);
  const at::Tensor losses = testing::Golden("adamw/loss"), norms = testing::Golden("adamw/norm"),
                   rates = testing::Golden("adamw/lr");
  for (int64_t t = 0; t < 20; ++t) {
    double loss = 0;
    for (const MicroBatch& batch : group.batches) loss += model->Backward(0, batch, group.weight, 0);
    EXPECT_NEAR(loss, losses[t].item<double>(), 1e-4) << t;
    EXPECT_NEAR(model->Step(rates[t].item<double>()), norms[t].item<double>(), 1e-3) << t;
  }
  EXPECT_LT(losses[19].item<double>(), losses[0].item<double>() - 1);
}

TEST(Budget, AnOversizedBatchThrowsAndLeavesNoMemory) {
  const auto texts = RandomTexts(64, 97, 40, 20, 5);
  for (const bool recompute : {false, true}) {
    const auto model = Make(NoDropout(), {.workers = 2, .recompute = recompute, .max_grad_norm = 0});
    const Group small(texts, 8, true), large(texts, 64, true);
    const auto expected = GradientOf(model.get(), small);
    torch_common::ResetCpuPeak();
    const uint64_t live = torch_common::CpuMemory().live_bytes;
    GradientOf(model.get(), small);
    EXPECT_EQ(torch_common::CpuMemory().live_bytes, live);
    const uint64_t peak = torch_common::CpuMemory().peak_bytes;
    torch_common::LimitCpuMemory(peak);
    try {
      model->Backward(0, large.batches[0], large.weight, 0);
      ADD_FAILURE() << "64 texts fitted where 8 just do";
    } catch (const bp::Error& e) {
      EXPECT_EQ(e.code(), BP_E_OOM_DEVICE);
      EXPECT_TRUE(std::string(e.what()).starts_with("out of device memory: ")) << e.what();
    }
    EXPECT_EQ(torch_common::CpuMemory().live_bytes, live);
    model->DropGradients();
    EXPECT_EQ(GradientOf(model.get(), small), expected);  // within the limit
    torch_common::LimitCpuMemory(0);
  }
}

TEST(Budget, ReportsABudgetThatCannotHoldTheModel) {
  Make(NoDropout());  // meters
  torch_common::LimitCpuMemory(torch_common::CpuMemory().live_bytes + 100'000);
  EXPECT_THROW(Make(NoDropout()), bp::Error);
  torch_common::LimitCpuMemory(0);
}

TEST(Budget, APeakGrowsByTheSameForEachItem) {
  const auto model = Make(NoDropout());
  const auto peak = [&](size_t m) {
    const std::vector<testing::Text> texts(m, {std::vector<int32_t>(60, 7), std::vector<int32_t>(30, 8)});
    const Group group(texts, static_cast<int64_t>(m), true);
    torch_common::ResetCpuPeak();
    model->Backward(0, group.batches[0], group.weight, 0);
    return static_cast<double>(torch_common::CpuMemory().peak_bytes);
  };
  peak(1);  // allocates everything that lives on
  const double one = peak(1), each = peak(2) - one;
  double mean = 0, residual = 0, spread = 0;
  const std::vector<size_t> sizes = {4, 8, 16, 32};
  for (const size_t m : sizes) mean += peak(m) / static_cast<double>(sizes.size());
  for (const size_t m : sizes) {
    const double found = peak(m), predicted = one + each * static_cast<double>(m - 1);
    EXPECT_NEAR(found, predicted, .1 * found) << m;
    residual += std::pow(found - predicted, 2), spread += std::pow(found - mean, 2);
  }
  EXPECT_LT(residual, .01 * spread);  // R^2 > 0.99
}

TEST(Recompute, NeedsLessMemory) {
  BartConfig config = NoDropout();
  config.encoder_layers = config.decoder_layers = 4, config.dropout = .1;
  const Group group(RandomTexts(32, 97, 60, 40, 5), 32, true);
  const auto activations = [&](bool recompute) {
    const auto model = Make(config, {.recompute = recompute});
    const uint64_t live = torch_common::CpuMemory().live_bytes;
    torch_common::ResetCpuPeak();
    model->Backward(0, group.batches[0], group.weight, 0);
    return static_cast<double>(torch_common::CpuMemory().peak_bytes - live);
  };
  EXPECT_LE(activations(true), .45 * activations(false));
}

TEST(Bf16, IsNearAndRecomputesToTheSame) {
  BartConfig config = NoDropout();
  config.dropout = .1;
  const Group group(RandomTexts(16, 97, 40, 20, 9), 8, true);
  const auto gradient = [&](bool bf16, bool recompute) {
    return GradientOf(Make(config, {.recompute = recompute, .bf16 = bf16}).get(), group);
  };
  const auto plain = gradient(false, false), mixed = gradient(true, false);
  EXPECT_LE(Distance(mixed, plain), .02);
  EXPECT_GT(Distance(mixed, plain), 1e-5);
  EXPECT_LE(Distance(gradient(true, true), mixed), 1e-3);
}

TEST(Fp16, IsNearForAnyScaleAndSkipsAnOverflow) {
  BartConfig config = NoDropout();
  config.dropout = .1;
  const Group group(RandomTexts(16, 97, 40, 20, 9), 8, true);
  const auto plain = GradientOf(Make(config).get(), group);
  const auto model = Make(config, {.fp16 = true});
  const auto scaled = GradientOf(model.get(), group);
  EXPECT_LE(Distance(scaled, plain), .02);
  EXPECT_GT(Distance(scaled, plain), 1e-6);
  EXPECT_EQ(model->updates(), 1u);

  // A sum over many tokens divided by little is a large gradient: it overflows until the scale has fallen.
  const int64_t n = model->layout().size();
  const std::vector<float> before(model->weights(), model->weights() + n);
  model->Backward(0, group.batches[0], 1e-3, 0);
  EXPECT_FALSE(std::isfinite(model->Step(1)));
  EXPECT_EQ(std::vector<float>(model->weights(), model->weights() + n), before);
  EXPECT_EQ(model->updates(), 1u) << "a skipped update is no step of AdamW";
  EXPECT_EQ(model->scaler()->skipped(), 1u);
  EXPECT_EQ(model->scaler()->scale(), 32768);
  const auto after = GradientOf(model.get(), group);
  EXPECT_LE(Distance(after, plain), .02) << "gradients are divided by the new scale";
}

TEST(Loss, IsTheSumWithoutDropoutAndSmoothing) {
  BartConfig config = NoDropout();
  const Group group(RandomTexts(8, 97, 40, 20, 9), 8, true);
  const auto plain = Make(config);
  const double sum = plain->Backward(0, group.batches[0], 1, 0);
  config.dropout = .3;
  EXPECT_NEAR(Make(config, {.label_smoothing = .2})->Loss(group.batches[0]), sum, 1e-5 * sum);
  EXPECT_NE(Make(config, {.label_smoothing = .2})->Backward(0, group.batches[0], 1, 0), sum);
}

// After Write, Loss reuses the encoder's output for the same texts and weights. A text's part does not depend on other texts.
TEST(Loss, IsTheSameBitsForAnyCutAndAfterWriting) {
  const auto texts = RandomTexts(13, 97, 40, 20, 9);
  const auto model = Make(NoDropout());
  const double whole = model->Loss(Group(texts, 13, false).batches[0]);
  for (const int64_t m : {1, 4, 5}) {
    for (const bool write : {false, true}) {
      const Group group(texts, m, write);
      double sum = 0;
      for (const MicroBatch& batch : group.batches) {
        if (write) model->Write(batch, {.max_length = 6});
        sum += model->Loss(batch);
      }
      EXPECT_EQ(sum, whole) << m << write;
    }
  }
  const Group first(texts, 13, false), other(RandomTexts(13, 97, 40, 20, 10), 13, false);
  model->Write(other.batches[0], {.max_length = 6});
  EXPECT_EQ(model->Loss(first.batches[0]), whole) << "other texts were read last";
  model->Write(first.batches[0], {.max_length = 6});
  InitWeights(NoDropout(), model->layout(), 2, model->weights());
  EXPECT_NE(model->Loss(first.batches[0]), whole) << "by other weights";
}

TEST(Loss, IsReadFromSeveralThreads) {
  const Group group(RandomTexts(16, 97, 40, 20, 9), 8, true);
  const auto model = Make(NoDropout());
  const double first = model->Loss(group.batches[0]), second = model->Loss(group.batches[1]);
  double beside = 0;
  std::thread other([&] {
    model->Write(group.batches[0], {.max_length = 6});
    beside = model->Loss(group.batches[0]);
  });
  model->Write(group.batches[1], {.max_length = 6});
  EXPECT_EQ(model->Loss(group.batches[1]), second);
  other.join();
  EXPECT_EQ(beside, first);
}

TEST(Loss, AnEmptyLabelHasNoLoss) {
  auto texts = RandomTexts(2, 97, 40, 20, 9);
  const auto model = Make(NoDropout());
  const double one = model->Loss(Group({texts[0]}, 1, false).batches[0]);
  texts[1].label.clear();
  EXPECT_EQ(model->Loss(Group(texts, 2, false).batches[0]), one);
}

}  // namespace
}  // namespace backplane::seq2seq
