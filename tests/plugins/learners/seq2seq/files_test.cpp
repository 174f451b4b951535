// Model folders of HuggingFace, read and written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "generation_config.hpp"
#include "pretrained.hpp"
#include "safetensors/safetensors.hpp"

namespace backplane::seq2seq {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using safetensors::Dtype;

BartConfig Tiny() {
  BartConfig c;
  c.vocab_size = 7, c.d_model = 4, c.max_position_embeddings = 5, c.encoder_layers = 1, c.decoder_layers = 2;
  c.encoder_attention_heads = 2, c.decoder_attention_heads = 4, c.encoder_ffn_dim = 6, c.decoder_ffn_dim = 8;
  return c;
}

class FilesTest : public ::testing::Test {
 protected:
  FilesTest() : folder_(fs::path(::testing::TempDir()) / ("seq2seq_files_" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
    InitWeights(config_, layout_, 3, weights_.data());
    for (size_t i = 0; i < weights_.size(); ++i) weights_[i] += static_cast<float>(i) / 64;
    for (const Parameter& p : layout_.parameters()) {
      tensors_[p.name] = {Dtype::kF32,
                          {p.shape.begin(), p.shape.end()},
                          reinterpret_cast<const std::byte*>(&weights_[p.offset]),
                          static_cast<uint64_t>(p.size) * 4};
    }
  }
  ~FilesTest() override { fs::remove_all(folder_); }
  std::string ConfigRefusal(const std::string& text) const {
    const std::string path = folder_ / "config.json";
    std::ofstream(path) << text;
    return Refusal([&] { ReadConfig(path); });
  }
  std::string WeightsRefusal(const safetensors::Tensors& tensors) const {
    safetensors::Write(folder_ / "model.safetensors", {}, tensors);
    std::vector<float> out(layout_.size());
    return Refusal([&] { ReadWeights(folder_, layout_, out.data()); });
  }
  std::vector<float> ReadBack(const safetensors::Tensors& tensors) const {
    safetensors::Write(folder_ / "model.safetensors", {}, tensors);
    std::vector<float> out(layout_.size());
    ReadWeights(folder_, layout_, out.data());
    return out;
  }
  template <class Body>
  static std::string Refusal(Body&& body) {
    try {
      body();
    } catch (const std::runtime_error& e) {
      return e.what();
    }
    return "accepted";
  }

  const fs::path folder_;
  const BartConfig config_ = Tiny();
  const Layout layout_{config_};
  std::vector<float> weights_ = std::vector<float>(layout_.size());
  safetensors::Tensors tensors_;
};

TEST(Layout, CountsTheParametersOfTheReferenceModel) {
  BartConfig c;
  c.vocab_size = 8000, c.d_model = 256, c.max_position_embeddings = 130, c.encoder_layers = c.decoder_layers = 3;
  c.encoder_attention_heads = c.decoder_attention_heads = 4, c.encoder_ffn_dim = c.decoder_ffn_dim = 1024;
  const Layout layout(c);
  EXPECT_EQ(layout.trained(), 7'646'208);
  EXPECT_EQ(layout.size(), 7'646'208 + 8000);
  for (const Parameter& p : layout.parameters()) {
    const bool plain = p.name.ends_with("bias") || p.name.find("norm") != p.name.npos;
    EXPECT_EQ(p.offset < layout.decayed(), !plain) << p.name;
  }
}

TEST(InitWeights, FollowsTheConfig) {
  BartConfig c = Tiny();
  c.vocab_size = 2000;
  const Layout layout(c);
  std::vector<float> w(layout.size());
  InitWeights(c, layout, 1, w.data());
  const auto value = [&](const char* name, int64_t i) { return w[layout.at(name).offset + i]; };
  double squares = 0;
  for (int64_t i = 0; i < 8000; ++i) squares += std::pow(value("model.shared.weight", i), 2);
  EXPECT_NEAR(std::sqrt(squares / 8000), .02, .001);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(value("model.shared.weight", c.pad_token_id * 4 + i), 0);
  EXPECT_EQ(value("model.decoder.layers.1.encoder_attn_layer_norm.weight", 2), 1);
  EXPECT_EQ(value("model.encoder.layernorm_embedding.weight", 2), 1);
  EXPECT_EQ(value("model.encoder.layers.0.fc1.bias", 2), 0);
  EXPECT_EQ(value("final_logits_bias", 2), 0);
}

TEST_F(FilesTest, AFolderReadBackIsTheModelThatWasSaved) {
  BartConfig c = config_;
  c.json = R"({"id2label": {"0": "a"}, "d_model": 99, "torch_dtype": "bfloat16", "dtype": "float16"})";
  c.forced_bos_token_id = 0, c.forced_eos_token_id = -1, c.scale_embedding = true, c.dropout = .25;
  SavePretrained(folder_ / "deep/er", c, layout_, weights_.data());
  std::vector<float> out(layout_.size());
  ReadWeights(folder_ / "deep/er", layout_, out.data());
  EXPECT_EQ(out, weights_);
  const BartConfig read = ReadConfig(folder_ / "deep/er/config.json");
  EXPECT_EQ(read.d_model, 4);
  EXPECT_EQ(read.forced_bos_token_id, 0);
  EXPECT_EQ(read.forced_eos_token_id, -1);
  EXPECT_TRUE(read.scale_embedding);
  EXPECT_EQ(read.dropout, .25);
  const json file = json::parse(read.json);
  EXPECT_EQ(file["id2label"]["0"], "a");
  EXPECT_EQ(file["dtype"], "float32") << "like the tensors";
  EXPECT_FALSE(file.contains("torch_dtype"));
}

TEST_F(FilesTest, SavedMBartIsMBart) {
  BartConfig c = config_;
  c.is_mbart = true;
  const Layout layout(c);
  std::vector<float> weights(layout.size()), out(layout.size());
  std::iota(weights.begin(), weights.end(), 1.f);
  SavePretrained(folder_ / "mbart", c, layout, weights.data());
  ReadWeights(folder_ / "mbart", layout, out.data());
  EXPECT_EQ(out, weights);
  const BartConfig read = ReadConfig(folder_ / "mbart/config.json");
  EXPECT_TRUE(read.is_mbart);
  EXPECT_EQ(json::parse(read.json)["architectures"][0], "MBartForConditionalGeneration");
  EXPECT_EQ(layout.at("model.decoder.layer_norm.weight").size, c.d_model);
}

TEST_F(FilesTest, AConfigThatCannotBeWrittenWholeLeavesTheOldOne) {
  const std::string path = folder_ / "config.json";
  WriteConfig(path, config_);
  fs::create_directories(folder_ / "config.json.tmp/in the way");
  BartConfig other = config_;
  other.dropout = .25;
  EXPECT_THAT(Refusal([&] { WriteConfig(path, other); }), ::testing::HasSubstr("config.json: cannot write the file"));
  EXPECT_EQ(ReadConfig(path).dropout, config_.dropout);
  fs::remove_all(folder_ / "config.json.tmp");
  WriteConfig(path, other);
  EXPECT_EQ(ReadConfig(path).dropout, .25);
  EXPECT_FALSE(fs::exists(folder_ / "config.json.tmp"));
}

TEST_F(FilesTest, AcceptsTiedTensorsHalfPrecisionAndTheBareModel) {
  safetensors::Tensors with_tied = tensors_, bare;
  with_tied["lm_head.weight"] = with_tied["model.encoder.embed_tokens.weight"] = tensors_.at("model.shared.weight");
  EXPECT_EQ(ReadBack(with_tied), weights_);
  for (const auto& [name, tensor] : tensors_) {
    if (name != "final_logits_bias") bare[name.substr(6)] = tensor;
  }
  std::vector<float> expected = weights_;
  std::fill_n(expected.begin() + layout_.trained(), 7, 0.f);
  EXPECT_EQ(ReadBack(bare), expected);

  safetensors::Tensors renamed = tensors_;  // the embedding under the name of a tied tensor
  renamed["lm_head.weight"] = renamed.extract("model.shared.weight").mapped();
  EXPECT_EQ(ReadBack(renamed), weights_);

  const uint16_t half[] = {0x3c00, 0xc000, 0x0001, 0x7bff}, brain[] = {0x3f80, 0xc000, 0x0001, 0x7f7f};
  const double wide[] = {1, -2, .5, 3};
  const Parameter& norm = layout_.at("model.encoder.layernorm_embedding.weight");
  const auto read = [&](Dtype dtype, const void* data, uint64_t bytes) {
    safetensors::Tensors tensors = tensors_;
    tensors[norm.name] = {dtype, {4}, static_cast<const std::byte*>(data), bytes};
    const std::vector<float> out = ReadBack(tensors);
    return std::vector<float>(out.begin() + norm.offset, out.begin() + norm.offset + 4);
  };
  EXPECT_THAT(read(Dtype::kF16, half, 8), ::testing::ElementsAre(1, -2, 0x1p-24f, 65504));
  EXPECT_THAT(read(Dtype::kBf16, brain, 8), ::testing::ElementsAre(1, -2, 0x1p-133f, 0x1.fep127f));
  EXPECT_THAT(read(Dtype::kF64, wide, 32), ::testing::ElementsAre(1, -2, .5, 3));
}

TEST_F(FilesTest, RejectsWeightsOfADifferentModel) {
  using ::testing::HasSubstr;
  safetensors::Tensors t = tensors_;
  t.erase("model.decoder.layers.1.fc2.bias");
  EXPECT_THAT(WeightsRefusal(t), HasSubstr("model.safetensors: has no tensor 'model.decoder.layers.1.fc2.bias'"));
  t = tensors_, t["model.decoder.layers.1.fc2.bias"].shape = {2, 2};
  EXPECT_THAT(WeightsRefusal(t), HasSubstr("expected the shape [4] by config.json, got [2, 2]"));
  t = tensors_, t["model.decoder.layers.2.fc2.bias"] = t["model.decoder.layers.1.fc2.bias"];
  EXPECT_THAT(WeightsRefusal(t), HasSubstr("'model.decoder.layers.2.fc2.bias' is not part of the model"));
  t = tensors_, t["model.decoder.layers.1.fc2.bias"].dtype = Dtype::kI32;
  EXPECT_THAT(WeightsRefusal(t), HasSubstr("expected floating-point numbers, got I32"));
  const std::vector<float> other(28, 1);
  t = tensors_, t["lm_head.weight"] = {Dtype::kF32, {7, 4}, reinterpret_cast<const std::byte*>(other.data()), 112};
  EXPECT_THAT(WeightsRefusal(t), HasSubstr("'lm_head.weight': expected the values of 'model.shared.weight'"));
  fs::remove(folder_ / "model.safetensors");
  std::ofstream(folder_ / "pytorch_model.bin") << "x";
  EXPECT_THAT(Refusal([&] { ReadWeights(folder_, layout_, weights_.data()); }),
              HasSubstr("expected model.safetensors, got pytorch_model.bin"));
}

// The file of facebook/bart-large-cnn, typed by hand.
TEST_F(FilesTest, ReadsHowAFolderWantsTextsWritten) {
  BartConfig config = config_;
  EXPECT_EQ(ReadGenerationConfig(folder_, &config).json, "") << "there is none";
  EXPECT_EQ(config.forced_eos_token_id, 2);
  std::ofstream(folder_ / "generation_config.json") << R"({"_from_model_config": true, "bos_token_id": 0,
      "decoder_start_token_id": 2, "early_stopping": true, "eos_token_id": 2, "forced_bos_token_id": 0, "length_penalty": 2.0,
      "max_length": 142, "min_length": 56, "no_repeat_ngram_size": 3, "num_beams": 4, "pad_token_id": 1})";
  const GenerationConfig read = ReadGenerationConfig(folder_, &config);
  EXPECT_EQ(read.num_beams, 4);
  EXPECT_EQ(read.max_length, 142);
  EXPECT_EQ(read.min_length, 56);
  EXPECT_EQ(read.no_repeat_ngram_size, 3);
  EXPECT_EQ(read.length_penalty, 2.0);
  EXPECT_EQ(read.early_stopping, EarlyStopping::kYes);
  EXPECT_EQ(config.forced_bos_token_id, 0);
  EXPECT_EQ(config.forced_eos_token_id, -1) << "transformers reads forced tokens only from this file";
}

TEST_F(FilesTest, RejectsAnUnsupportedGenerationConfig) {
  using ::testing::HasSubstr;
  const std::pair<const char*, const char*> cases[] = {
      {"{", "generation_config.json: expected JSON"},
      {"[]", "generation_config.json: expected a JSON object"},
      {R"({"do_sample": true})", "do_sample: expected false or none, got true"},
      {R"({"repetition_penalty": 1.2})", "repetition_penalty: expected 1.0 or none, got 1.2"},
      {R"({"bad_words_ids": [[3]]})", "bad_words_ids: expected null or none, got [[3]]"},
      {R"({"eos_token_id": [2, 3]})", "eos_token_id: expected one token, got [2,3]"},
      {R"({"eos_token_id": 3})", "eos_token_id: expected 2, as in config.json, got 3"},
      {R"({"num_beams": 0})", "num_beams: expected a whole number of 1 or more, got 0"},
      {R"({"max_new_tokens": "9"})", "max_new_tokens: expected a whole number of 1 or more, got \"9\""},
      {R"({"length_penalty": "a"})", "length_penalty: expected a number, got \"a\""},
      {R"({"early_stopping": "yes"})", "early_stopping: expected true, false or \"never\", got \"yes\""},
      {R"({"forced_eos_token_id": 7})", "forced_eos_token_id: expected a token below vocab_size 7, got 7"},
      {R"({"repetition_penalty": 1, "do_sample": false, "bad_words_ids": null, "num_beams": null})", "accepted"},
  };
  for (const auto& [text, said] : cases) {
    BartConfig config = config_;
    std::ofstream(folder_ / "generation_config.json") << text;
    EXPECT_THAT(Refusal([&] { ReadGenerationConfig(folder_, &config); }), HasSubstr(said)) << text;
  }
  std::ofstream(folder_ / "generation_config.json") << R"({"max_length": 5, "max_new_tokens": 9, "min_new_tokens": 2})";
  BartConfig config = config_;
  EXPECT_EQ(ReadGenerationConfig(folder_, &config).max_length, 10) << "with the start token";
  EXPECT_EQ(ReadGenerationConfig(folder_, &config).min_length, 3);
}

TEST_F(FilesTest, RejectsConfigsOfOtherFamiliesAndSenselessNumbers) {
  using ::testing::HasSubstr;
  EXPECT_EQ(ConfigRefusal(R"({"model_type": "bart"})"), "accepted");
  const std::pair<const char*, const char*> cases[] = {
      {"", "config.json: expected JSON"},
      {"[]", "expected a JSON object"},
      {"{}", "model_type: expected bart or mbart, got none"},
      {R"({"model_type": "t5"})", "model_type: expected bart or mbart, got t5"},
      {R"({"model_type": "mbart"})", "decoder_start_token_id: expected the token of the target language"},
      {R"({"model_type": "mbart", "decoder_start_token_id": 2, "normalize_before": false})", "normalize_before: expected true"},
      {R"({"model_type": "bart", "normalize_before": true})", "normalize_before: expected false, got true"},
      {R"({"model_type": "bart", "normalize_before": true})", "normalize_before: expected false, got true"},
      {R"({"model_type": "bart", "activation_function": "relu"})", "activation_function: expected \"gelu\", got \"relu\""},
      {R"({"model_type": "bart", "encoder_layerdrop": 0.1})", "encoder_layerdrop: expected 0, got 0.1"},
      {R"({"model_type": "bart", "d_model": 10, "encoder_attention_heads": 3})",
       "multiple of the attention heads, got 10 and 3"},
      {R"({"model_type": "bart", "d_model": "big"})", "d_model: expected a whole number, got \"big\""},
      {R"({"model_type": "bart", "d_model": 0})", "d_model: expected 1 or more, got 0"},
      {R"({"model_type": "bart", "eos_token_id": 50265})", "eos_token_id: expected a token below vocab_size 50265, got 50265"},
      {R"({"model_type": "bart", "dropout": 1})", "dropout: expected a number in [0, 1), got 1"},
      {R"({"model_type": "bart", "scale_embedding": 1})", "scale_embedding: expected true or false, got 1"},
  };
  for (const auto& [text, said] : cases) EXPECT_THAT(ConfigRefusal(text), HasSubstr(said)) << text;
  EXPECT_THAT(Refusal([&] { ReadConfig(folder_ / "none.json"); }), HasSubstr("none.json: cannot read the file"));
}

}  // namespace
}  // namespace backplane::seq2seq
