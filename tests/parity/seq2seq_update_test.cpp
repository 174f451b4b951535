// Whole updates of learner.seq2seq, from the micro-batches to the weights, compared with seq2seq_oracle.py.
#include <filesystem>
#include <fstream>

#include "seq2seq/trial.hpp"
#include "update_case.hpp"

namespace backplane::parity {
namespace {

using seq2seq::testing::Group;
using seq2seq::testing::kLabel;
using seq2seq::testing::kSource;
using seq2seq::testing::RandomTexts;
using seq2seq::testing::Text;
using seq2seq::testing::Trial;

struct Ids {
  int64_t bos = 0, pad = 1, eos = 2, start = 2;
};
constexpr Ids kKoBart{1, 3, 1, 1};

struct Case {
  const char* name;
  Settings change;
  Settings beside = {};   // needed for an effect of the option; set in both runs
  bool different = true;  // from the same without `change`
  Ids ids = {};
  int64_t micro_batch = 5;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

// Initial weights large enough for every effect, and an epsilon above the rounding error of a zero gradient.
const Settings kBase = {{"effective_batch_size", "12"},
                        {"per_device_train_batch_size", "6"},
                        {"d_model", "16"},
                        {"encoder_layers", "2"},
                        {"decoder_layers", "2"},
                        {"encoder_attention_heads", "2"},
                        {"encoder_ffn_dim", "24"},
                        {"decoder_ffn_dim", "20"},
                        {"init_std", "0.3"},
                        {"dropout", "0"},
                        {"learning_rate", "0.01"},
                        {"adam_epsilon", "0.00001"}};

// A model folder's config.json.
nlohmann::json ConfigOf(const nlohmann::json& options, const Ids& ids) {
  return {{"vocab_size", 97},
          {"d_model", options.at("d_model")},
          {"max_position_embeddings", kSource},
          {"encoder_layers", options.at("encoder_layers")},
          {"decoder_layers", options.at("decoder_layers")},
          {"encoder_attention_heads", options.at("encoder_attention_heads")},
          {"decoder_attention_heads", 4},
          {"encoder_ffn_dim", options.at("encoder_ffn_dim")},
          {"decoder_ffn_dim", options.at("decoder_ffn_dim")},
          {"scale_embedding", options.at("scale_embedding")},
          {"bos_token_id", ids.bos},
          {"pad_token_id", ids.pad},
          {"eos_token_id", ids.eos},
          {"decoder_start_token_id", ids.start},
          {"forced_eos_token_id", ids.eos},
          {"model_type", "bart"}};
}

// With the ends of such a model's labels; a begin that equals the end is omitted.
std::vector<Text> WithEnds(std::vector<Text> texts, const Ids& ids) {
  for (Text& text : texts) {
    text.label.front() = static_cast<int32_t>(ids.bos), text.label.back() = static_cast<int32_t>(ids.eos);
    if (ids.bos == ids.eos) text.label.erase(text.label.begin());
  }
  return texts;
}

nlohmann::json AsJson(const Group& group) {
  const auto row = [](const bp_tensor& ids, const bp_tensor& lengths, int64_t i) {
    const int32_t* from = static_cast<const int32_t*>(ids.data) + i * ids.strides[0];
    return std::vector<int32_t>(from, from + static_cast<const int32_t*>(lengths.data)[i]);
  };
  nlohmann::json batches;
  for (const seq2seq::MicroBatch& batch : group.batches) {
    nlohmann::json texts;
    for (int64_t i = 0; i < batch.size(); ++i)
      texts.push_back(
          {{"source", row(*batch.source, *batch.source_length, i)}, {"label", row(*batch.label, *batch.label_length, i)}});
    batches.push_back(std::move(texts));
  }
  return batches;
}

class Seq2seqUpdate : public ::testing::TestWithParam<Case> {
 protected:
  ~Seq2seqUpdate() override { std::filesystem::remove_all(Trial::Folder()); }

  // Unlike a new model, a folder's config.json can have any ids.
  static Settings InFolder(Settings options, const Ids& ids, const bp_descriptor& plugin) {
    const nlohmann::json all = OptionsOf(plugin, options);
    Trial(With(options, {{"save_pretrained", "model"}})).State();
    const std::string folder = Trial::Folder() + "/model";
    std::ofstream(folder + "/config.json") << ConfigOf(all, ids).dump();
    for (const char* name : {"d_model", "encoder_layers", "decoder_layers", "encoder_attention_heads", "encoder_ffn_dim",
                             "decoder_ffn_dim", "init_std"})
      options.erase(name);
    options["model_name_or_path"] = folder;
    return options;
  }
};

TEST_P(Seq2seqUpdate, EqualsTheOracle) {
  const Case& c = GetParam();
  const bp_descriptor& plugin = *seq2seq::testing::Plugin()->descriptor(0);
  const Settings base = With(kBase, c.beside), options = With(base, c.change);
  nlohmann::json request = {{"options", OptionsOf(plugin, options)}, {"base", nullptr}, {"total", 40}};
  request["config"] = ConfigOf(request["options"], c.ids);
  if (c.different) request["base"] = OptionsOf(plugin, base);
  Trial trial(c.ids.bos == c.ids.eos ? InFolder(options, c.ids, plugin) : options);
  ASSERT_EQ(trial.status, BP_OK) << trial.error();
  request["before"] = Hex(trial.State());
  for (uint64_t update = 0; update < 3; ++update) {
    const Group group(WithEnds(RandomTexts(12, 97, kSource, kLabel, 20 + update), c.ids), c.micro_batch, update > 0,
                      static_cast<int32_t>(c.ids.pad));
    ASSERT_EQ(trial.Update(group), BP_OK) << trial.error();
    request["groups"].push_back(AsJson(group));
    request["after"].push_back(Hex(trial.State()));
    request["said"].push_back(
        {{"loss", trial.Metric("train/loss")}, {"norm", trial.Metric("train/grad_norm")}, {"lr", trial.Metric("train/lr")}});
  }
  ExpectTheOraclesUpdate(request, c.different);
}

const Case kCases[] = {
    {"Plain", {}, {}, false},
    {"KoBartsIds", {}, {}, false, kKoBart},
    {"TwoWorkers", {{"parallel_microbatches", "2"}}, {}, false},
    {"GradientCheckpointing", {{"gradient_checkpointing", "true"}}, {}, false},
    {"MeanOfMeans", {{"loss_normalization", "microbatch_mean"}}, {}, true, {}, 6},
    {"ScaleEmbedding", {{"scale_embedding", "true"}}, {}, false},
    {"LabelSmoothing", {{"label_smoothing_factor", "0.3"}}},
    {"WeightDecay", {{"weight_decay", "2"}}},
    {"Betas", {{"adam_beta1", "0.5"}, {"adam_beta2", "0.9"}}},
    {"Epsilon", {{"adam_epsilon", "0.01"}}},
    {"MaxGradNorm", {{"max_grad_norm", "0.05"}}, {{"adam_epsilon", "0.001"}}},
    {"NoMaxGradNorm", {{"max_grad_norm", "0"}}, {{"adam_epsilon", "0.01"}}},
    {"WarmupSteps", {{"warmup_steps", "4"}}},
    {"WarmupShare", {{"warmup_steps", "0.1"}}},
    {"Cosine", {{"lr_scheduler_type", "cosine"}}, {{"warmup_steps", "1"}}},
    {"Constant", {{"lr_scheduler_type", "constant"}}},
    {"ConstantWithWarmup", {{"lr_scheduler_type", "constant_with_warmup"}}, {{"warmup_steps", "1"}}},
};
INSTANTIATE_TEST_SUITE_P(, Seq2seqUpdate, ::testing::ValuesIn(kCases),
                         [](const ::testing::TestParamInfo<Case>& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace backplane::parity
