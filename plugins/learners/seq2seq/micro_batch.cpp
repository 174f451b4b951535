#include <algorithm>

#include "backplane/plugin.hpp"
#include "model.hpp"

namespace backplane::seq2seq {
namespace {

int64_t LengthAt(const bp_tensor& lengths, int64_t text) {
  return static_cast<const int32_t*>(lengths.data)[text * lengths.strides[0]];
}

int64_t TokenAt(const bp_tensor& ids, int64_t text, int64_t place) {
  return static_cast<const int32_t*>(ids.data)[text * ids.strides[0] + place * ids.strides[1]];
}

int64_t Sum(const bp_tensor& lengths) {
  int64_t sum = 0;
  for (int64_t i = 0; i < lengths.shape[0]; ++i) sum += LengthAt(lengths, i);
  return sum;
}

// Cuts each row to its length, but to at least `least` tokens.
std::vector<std::span<const int32_t>> TokensOf(const bp_tensor& ids, const bp_tensor& lengths, int64_t least) {
  std::vector<std::span<const int32_t>> rows;
  for (int64_t i = 0; i < ids.shape[0]; ++i) {
    const auto length = static_cast<size_t>(std::max(LengthAt(lengths, i), least));
    rows.emplace_back(static_cast<const int32_t*>(ids.data) + i * ids.strides[0], length);
  }
  return rows;
}

}  // namespace

std::vector<std::span<const int32_t>> MicroBatch::Sources() const { return TokensOf(*source, *source_length, 1); }
std::vector<std::span<const int32_t>> MicroBatch::Labels() const { return TokensOf(*label, *label_length, 0); }

int64_t MicroBatch::LabelTokens() const { return Sum(*label_length); }
int64_t MicroBatch::RealTokens() const { return Sum(*source_length) + Sum(*label_length); }
int64_t MicroBatch::PaddedTokens() const { return size() * (source->shape[1] + label->shape[1]); }

void MicroBatch::NeedIdsOf(const BartConfig& config) const {
  for (int64_t i = 0; i < size(); ++i) {
    const int64_t length = LengthAt(*label_length, i);
    if (length == 0) continue;
    const int64_t first = TokenAt(*label, i, 0), last = TokenAt(*label, i, length - 1);
    if (config.is_mbart) {
      if (last == config.decoder_start_token_id) continue;
      throw bp::ConfigError("the env's labels end with token " + std::to_string(last) +
                            ", but mBART's decoder starts with the last token of a label, and decoder_start_token_id is " +
                            std::to_string(config.decoder_start_token_id) +
                            "; set env.options.target_lang to the language of that token, or correct config.json");
    }
    // Without a start, texts of tokenizers such as KoBART's begin with a word.
    const bool no_begin = config.bos_token_id == config.eos_token_id;
    const bool is_word = first != config.eos_token_id && first != config.pad_token_id;
    if ((length == 1 || is_word) && last == config.eos_token_id) continue;
    const std::string bos = std::to_string(config.bos_token_id), eos = std::to_string(config.eos_token_id);
    const std::string ids =
        " --bos_id=" + (no_begin ? "-1" : bos) + " --pad_id=" + std::to_string(config.pad_token_id) + " --eos_id=" + eos;
    throw bp::ConfigError("the env's labels start with token " + std::to_string(first) + " and end with token " +
                          std::to_string(last) + ", but the model's bos_token_id is " + bos + " and its eos_token_id " + eos +
                          (no_begin ? ", so labels have no start" : "") +
                          "; generated texts would be cut wrongly; train the tokenizer with spm_train" + ids +
                          ", or set a model_name_or_path whose config.json has the tokenizer's ids");
  }
}

}  // namespace backplane::seq2seq
