#include "generation_config.hpp"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace backplane::seq2seq {
namespace {

using nlohmann::json;

[[noreturn]] void Reject(const std::string& sentence) { throw std::runtime_error(sentence); }

// Rules of transformers that this learner does not support, with the values that disable them.
struct Idle {
  const char* name;
  json value;
};
const Idle kIdle[] = {{"do_sample", false},
                      {"repetition_penalty", 1.0},
                      {"encoder_repetition_penalty", 1.0},
                      {"encoder_no_repeat_ngram_size", 0},
                      {"num_beam_groups", 1},
                      {"diversity_penalty", 0.0},
                      {"penalty_alpha", 0.0},
                      {"renormalize_logits", false},
                      {"remove_invalid_values", false},
                      {"bad_words_ids", nullptr},
                      {"force_words_ids", nullptr},
                      {"constraints", nullptr},
                      {"sequence_bias", nullptr},
                      {"suppress_tokens", nullptr},
                      {"begin_suppress_tokens", nullptr},
                      {"exponential_decay_length_penalty", nullptr}};

bool Has(const json& file, const char* name) { return file.contains(name) && !file[name].is_null(); }

int64_t Whole(const json& file, const char* name, int64_t least) {
  const json& value = file[name];
  if (!value.is_number_integer() || value.get<int64_t>() < least || value.get<int64_t>() > INT32_MAX)
    Reject(std::string(name) + ": expected a whole number of " + std::to_string(least) + " or more, got " + value.dump());
  return value.get<int64_t>();
}

// A token, or a list with one.
int64_t Token(const json& file, const char* name) {
  const json& value = file[name].is_array() && file[name].size() == 1 ? file[name][0] : file[name];
  if (!value.is_number_integer()) Reject(std::string(name) + ": expected one token, got " + file[name].dump());
  return value.get<int64_t>();
}

void NeedIds(const json& file, const BartConfig& config) {
  const std::pair<const char*, int64_t> ids[] = {{"bos_token_id", config.bos_token_id},
                                                 {"pad_token_id", config.pad_token_id},
                                                 {"eos_token_id", config.eos_token_id},
                                                 {"decoder_start_token_id", config.decoder_start_token_id}};
  for (const auto& [name, own] : ids) {
    if (Has(file, name) && Token(file, name) != own)
      Reject(std::string(name) + ": expected " + std::to_string(own) + ", as in config.json, got " + file[name].dump());
  }
}

int64_t ForcedToken(const json& file, const char* name) { return Has(file, name) ? Token(file, name) : -1; }

EarlyStopping EarlyStoppingOf(const json& value) {
  if (value == "never") return EarlyStopping::kNever;
  if (!value.is_boolean()) Reject("early_stopping: expected true, false or \"never\", got " + value.dump());
  return value.get<bool>() ? EarlyStopping::kYes : EarlyStopping::kNo;
}

GenerationConfig Parse(const json& file, BartConfig* config) {
  for (const Idle& idle : kIdle) {
    if (Has(file, idle.name) && file[idle.name] != idle.value)
      Reject(std::string(idle.name) + ": expected " + idle.value.dump() + " or none, got " + file[idle.name].dump() +
             "; this learner only generates by greedy or beam search");
  }
  NeedIds(file, *config);
  GenerationConfig read;
  if (Has(file, "num_beams")) read.num_beams = Whole(file, "num_beams", 1);
  if (Has(file, "max_length")) read.max_length = Whole(file, "max_length", 2);
  if (Has(file, "min_length")) read.min_length = Whole(file, "min_length", 0);
  // Those count without the start token, and win over the other two.
  if (Has(file, "max_new_tokens")) read.max_length = Whole(file, "max_new_tokens", 1) + 1;
  if (Has(file, "min_new_tokens")) read.min_length = Whole(file, "min_new_tokens", 0) + 1;
  if (Has(file, "no_repeat_ngram_size")) read.no_repeat_ngram_size = Whole(file, "no_repeat_ngram_size", 0);
  if (Has(file, "length_penalty")) {
    if (!file["length_penalty"].is_number()) Reject("length_penalty: expected a number, got " + file["length_penalty"].dump());
    read.length_penalty = file["length_penalty"].get<double>();
  }
  if (Has(file, "early_stopping")) read.early_stopping = EarlyStoppingOf(file["early_stopping"]);
  config->forced_bos_token_id = ForcedToken(file, "forced_bos_token_id");
  config->forced_eos_token_id = ForcedToken(file, "forced_eos_token_id");
  config->CheckSizes();
  read.json = file.dump(2);
  return read;
}

}  // namespace

GenerationConfig ReadGenerationConfig(const std::string& folder, BartConfig* config) {
  const std::filesystem::path path = std::filesystem::path(folder) / "generation_config.json";
  if (!std::filesystem::exists(path)) return {};
  std::ifstream stream(path);
  if (!stream) Reject(path.string() + ": cannot read the file");
  try {
    const json file = json::parse(stream);
    if (!file.is_object()) Reject("expected a JSON object");
    return Parse(file, config);
  } catch (const json::parse_error& e) {
    Reject(path.string() + ": expected JSON: " + e.what());
  } catch (const std::exception& e) {
    Reject(path.string() + ": " + e.what());
  }
}

}  // namespace backplane::seq2seq
