#include "bart_config.hpp"

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "bart_fields.hpp"

namespace backplane::seq2seq {
namespace {

using nlohmann::json;

constexpr IntegerField kIds[] = {{"bos_token_id", &BartConfig::bos_token_id},
                                 {"pad_token_id", &BartConfig::pad_token_id},
                                 {"eos_token_id", &BartConfig::eos_token_id},
                                 {"decoder_start_token_id", &BartConfig::decoder_start_token_id}};
constexpr IntegerField kForcedIds[] = {{"forced_bos_token_id", &BartConfig::forced_bos_token_id},
                                       {"forced_eos_token_id", &BartConfig::forced_eos_token_id}};

// Settings of older or other models that this implementation does not support.
struct Fixed {
  const char* name;
  json value;
};
const Fixed kFixed[] = {{"activation_function", "gelu"},
                        {"normalize_embedding", true},
                        {"static_position_embeddings", false},
                        {"tie_word_embeddings", true}};
constexpr const char* kOfMbart[] = {"normalize_before", "add_final_layer_norm"};

[[noreturn]] void Fail(const std::string& sentence) { throw std::runtime_error(sentence); }

void NeedFamily(const json& file) {
  const std::string family = file.value("model_type", "");
  if (family == "bart" || family == "mbart") return;
  Fail("model_type: expected bart or mbart, got " + (family.empty() ? "none" : family));
}

void CheckFixed(const json& file, bool is_mbart) {
  const auto need = [&](const char* name, const json& value) {
    if (file.contains(name) && file[name] != value)
      Fail(std::string(name) + ": expected " + value.dump() + ", got " + file[name].dump());
  };
  for (const Fixed& fixed : kFixed) need(fixed.name, fixed.value);
  for (const char* name : kOfMbart) need(name, is_mbart);
  for (const char* name : {"encoder_layerdrop", "decoder_layerdrop"}) {
    if (file.contains(name) && file[name] != 0) Fail(std::string(name) + ": expected 0, got " + file[name].dump());
  }
}

BartConfig Parse(const json& file) {
  NeedFamily(file);
  BartConfig config;
  config.is_mbart = file["model_type"] == "mbart";
  CheckFixed(file, config.is_mbart);
  if (config.is_mbart && (!file.contains("decoder_start_token_id") || file["decoder_start_token_id"].is_null()))
    Fail("decoder_start_token_id: expected the token of the target language, or eos_token_id for mBART-50, got none");
  const auto integer = [&](const IntegerField& field, bool may_be_null) {
    if (!file.contains(field.name)) return;
    const json& value = file[field.name];
    if (value.is_null() && may_be_null) {
      config.*field.at = -1;
      return;
    }
    if (!value.is_number_integer()) Fail(std::string(field.name) + ": expected a whole number, got " + value.dump());
    config.*field.at = value.get<int64_t>();
  };
  for (const IntegerField& field : kSizes) integer(field, false);
  for (const IntegerField& field : kIds) integer(field, false);
  for (const IntegerField& field : kForcedIds) integer(field, true);
  for (const ShareField& field : kShares) {
    if (!file.contains(field.name)) continue;
    if (!file[field.name].is_number()) Fail(std::string(field.name) + ": expected a number, got " + file[field.name].dump());
    config.*field.at = file[field.name].get<double>();
  }
  if (file.contains("scale_embedding")) {
    if (!file["scale_embedding"].is_boolean())
      Fail("scale_embedding: expected true or false, got " + file["scale_embedding"].dump());
    config.scale_embedding = file["scale_embedding"].get<bool>();
  }
  config.json = file.dump();
  config.CheckSizes();
  return config;
}

}  // namespace

void BartConfig::CheckSizes() const {
  for (const IntegerField& field : kSizes) {
    if (this->*field.at < 1 || this->*field.at > 100'000'000)
      Fail(std::string(field.name) + ": expected 1 or more, got " + std::to_string(this->*field.at));
  }
  for (const int64_t heads : {encoder_attention_heads, decoder_attention_heads}) {
    if (d_model % heads != 0) {
      Fail("d_model: expected a multiple of the attention heads, got " + std::to_string(d_model) + " and " +
           std::to_string(heads) + " heads");
    }
  }
  const auto need_id = [&](const IntegerField& field, int64_t least) {
    const int64_t id = this->*field.at;
    if (id < least || id >= vocab_size) {
      Fail(std::string(field.name) + ": expected a token below vocab_size " + std::to_string(vocab_size) + ", got " +
           std::to_string(id));
    }
  };
  for (const IntegerField& field : kIds) need_id(field, 0);
  for (const IntegerField& field : kForcedIds) need_id(field, -1);
  for (const ShareField& field : kShares) {
    if (!(this->*field.at >= 0 && this->*field.at < 1))
      Fail(std::string(field.name) + ": expected a number in [0, 1), got " + std::to_string(this->*field.at));
  }
}

BartConfig ReadConfig(const std::string& path) {
  std::ifstream stream(path);
  if (!stream) Fail(path + ": cannot read the file");
  try {
    const json file = json::parse(stream);
    if (!file.is_object()) Fail("expected a JSON object");
    return Parse(file);
  } catch (const json::parse_error& e) {
    Fail(path + ": expected JSON: " + e.what());
  } catch (const std::exception& e) {
    Fail(path + ": " + e.what());
  }
}

void WriteConfig(const std::string& path, const BartConfig& config) {
  json file = json::parse(config.json);
  file["model_type"] = config.is_mbart ? "mbart" : "bart";
  file["architectures"] = {config.is_mbart ? "MBartForConditionalGeneration" : "BartForConditionalGeneration"};
  file["is_encoder_decoder"] = true, file["activation_function"] = "gelu", file["scale_embedding"] = config.scale_embedding;
  file["tie_word_embeddings"] = true, file["num_hidden_layers"] = config.encoder_layers;
  for (const IntegerField& field : kSizes) file[field.name] = config.*field.at;
  for (const IntegerField& field : kIds) file[field.name] = config.*field.at;
  for (const IntegerField& field : kForcedIds) file[field.name] = config.*field.at < 0 ? json() : json(config.*field.at);
  for (const ShareField& field : kShares) file[field.name] = config.*field.at;
  file.erase("torch_dtype");  // the older name
  file["dtype"] = "float32";  // as the tensors are saved, whatever the model began with
  WriteText(path, file.dump(2) + "\n");
}

void WriteText(const std::string& path, const std::string& text) {
  // Under another name until it is whole.
  const std::string draft = path + ".tmp";
  std::ofstream stream(draft);
  stream << text;
  stream.close();
  if (stream && std::rename(draft.c_str(), path.c_str()) == 0) return;
  std::remove(draft.c_str());
  Fail(path + ": cannot write the file");
}

}  // namespace backplane::seq2seq
