#include "summarization.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "rouge/unicode.hpp"

namespace backplane::summarization {
namespace {

constexpr double kMostUnknown_pct = 5;

bp::Channel Tokens(uint16_t role, const char* name, int64_t length, int32_t vocabulary) {
  return {.role = role, .name = name, .shape = {length}, .space = BP_SPACE_TOKENS, .nvec = {vocabulary}};
}
bp::Channel Length(const char* name, int64_t longest) {
  return {.role = BP_ROLE_LENGTH, .name = name, .low = {0}, .high = {static_cast<double>(longest)}};
}
bp::Channel Info(const char* name) { return {.role = BP_ROLE_INFO, .name = name}; }

void Write(std::span<const int32_t> tokens, int32_t pad, std::span<int32_t> out) {
  std::fill(std::copy(tokens.begin(), tokens.end(), out.begin()), out.end(), pad);
}

void WarnOfDroppedLetters(const bp_host* host, const rouge::Options& options, const Dataset& data) {
  rouge::Letters letters;
  for (uint64_t item = 0; item < data.size(); ++item)
    for (const std::string_view text : data.References(item)) letters.Add(text);
  if (!rouge::MissesLetters(options, letters)) return;
  std::string example;
  rouge::AppendUtf8(letters.first_foreign, &example);
  char text[300];
  std::snprintf(
      text, sizeof text,
      "%.0f %% of the summaries' letters are not Latin, such as '%s'; ROUGE's tokenizer google drops them, so a text of "
      "only such letters scores 0 against itself; set rouge_tokenizer: char%s",
      100 * letters.foreign_share(), example.c_str(), options.stem ? " and rouge_stem: false" : "");
  host->log(host, BP_LOG_WARN, text);
}

}  // namespace

Summarization::Summarization(const bp_host* host, const Options& options, uint64_t rows)
    : options_(options),
      tokenizer_(host, options_),
      data_(tokenizer_.model ? Dataset(options_.data, options_.reading, tokenizer_.model.get())
                             : Dataset(options_.data, options_.reading, *tokenizer_.vocabulary, options_.caps)),
      scorer_(options_.rouge),
      order_(data_.size()),
      channels_(options_, tokenizer_.size),
      item_(rows) {
  // Start as if each row had just played the item before its first one, so that a first reset with a mask starts there too.
  for (uint64_t r = 0; r < rows; ++r) item_[r] = (r % data_.size() + data_.size() - rows % data_.size()) % data_.size();
  const ReadReport& report = data_.report();
  if (report.left_out > 0)
    host->log(host, BP_LOG_WARN,
              (options_.data.string() + ": " + std::to_string(report.left_out) + " rows left out, " +
               std::to_string(report.items) + " used; the first left out: " + report.first_left_out)
                  .c_str());
  WarnOfDroppedLetters(host, scorer_.options(), data_);
  bp::RecordFact(host, "items", std::to_string(report.items).c_str());
  bp::RecordFact(host, "rows_left_out", std::to_string(report.left_out).c_str());
  bp::RecordFact(host, "rouge", options_.rouge_text.c_str());
  if (!tokenizer_.model) return;
  const double share = 100.0 * static_cast<double>(data_.unknown_tokens()) / static_cast<double>(data_.tokens());
  char text[64];
  std::snprintf(text, sizeof text, "%.3g %%", share);
  bp::RecordFact(host, "unknown_tokens", text);
  bp::RecordFact(host, "tokenizers", tokenizer_.model->version().c_str());
  if (share > kMostUnknown_pct)
    host->log(
        host, BP_LOG_WARN,
        (std::string(text) + " of the tokens are unknown, so the model cannot see these words; use a model for this language")
            .c_str());
}

Summarization::Tokenizer::Tokenizer(const bp_host* host, const Options& options) {
  if (options.is_model_folder()) {
    model = std::make_unique<ModelTokenizer>(
        host, ModelFolder{options.tokenizer, options.python, options.source_lang, options.target_lang}, options.caps);
    size = model->size(), eos = model->eos(), pad = model->pad(), bos = -1;
  } else {
    vocabulary = std::make_unique<Vocabulary>(options.tokenizer);
    size = vocabulary->size(), eos = vocabulary->eos(), pad = vocabulary->pad(), bos = vocabulary->bos();
  }
}

Summarization::Channels::Channels(const Options& options, int32_t vocabulary)
    : obs(spec.Add<int32_t>(Tokens(BP_ROLE_OBS, "obs", options.caps.source, vocabulary))),
      obs_length(spec.Add<int32_t>(Length("obs_length", options.caps.source))),
      label(spec.Add<int32_t>(Tokens(BP_ROLE_LABEL, "label", options.caps.target, vocabulary))),
      label_length(spec.Add<int32_t>(Length("label_length", options.caps.target))),
      weight(spec.Add<float>({.role = BP_ROLE_WEIGHT, .name = "weight"})),
      action(spec.Add<const int32_t>(Tokens(BP_ROLE_ACTION, "action", options.max_generated_length, vocabulary))),
      reward(spec.Reward().Get<float>(BP_ROLE_REWARD)),
      terminated(spec.Terminated().Get<uint8_t>(BP_ROLE_TERMINATED)),
      rouge1(spec.Add<float>(Info("ep/rouge1"))),
      rouge2(spec.Add<float>(Info("ep/rouge2"))),
      rougeL(spec.Add<float>(Info("ep/rougeL"))),
      rougeLsum(spec.Add<float>(Info("ep/rougeLsum"))),
      tokens(spec.Add<float>(Info("ep/generated_tokens"))) {
  spec.MaxEpisodeSteps(1);
}

void Summarization::Show(const bp::Slot& slot, uint64_t row, uint64_t item) const {
  const auto source = data_.Source(item);
  const Channels& c = channels_;
  if (slot.Has(c.obs)) Write(source, tokenizer_.pad, slot.Row(c.obs, row));
  if (slot.Has(c.obs_length)) slot.Row(c.obs_length, row)[0] = static_cast<int32_t>(source.size());
  if (slot.Has(c.label_length)) slot.Row(c.label_length, row)[0] = static_cast<int32_t>(data_.Target(item).size());
}

void Summarization::Answer(const bp::Slot& slot, uint64_t row, uint64_t item) const {
  const auto target = data_.Target(item);
  if (slot.Has(channels_.label)) Write(target, tokenizer_.pad, slot.Row(channels_.label, row));
  if (slot.Has(channels_.weight)) slot.Row(channels_.weight, row)[0] = static_cast<float>(target.size());
}

void Summarization::Reset(const bp::Slot& slot, uint64_t begin, uint64_t end, const uint8_t* mask, const uint64_t*) {
  for (uint64_t r = begin; r < end; ++r) {
    if (mask && !mask[r]) continue;
    item_[r] = (mask ? item_[r] + item_.size() : r) % data_.size();
    Show(slot, r, item_[r]);
  }
}

void Summarization::Step(const bp::Slot& slot, uint64_t begin, uint64_t end) {
  std::vector<std::vector<int32_t>> generated;
  for (uint64_t r = begin; r < end; ++r) generated.push_back(Generated(slot, r));
  const std::vector<std::string> texts = Decode(generated);
  for (uint64_t r = begin; r < end; ++r) {
    const rouge::Scores scores = Score(texts[r - begin], item_[r]);
    Show(slot, r, item_[r]);
    Answer(slot, r, item_[r]);
    slot.Row(channels_.reward, r)[0] = static_cast<float>(scores.rougeL.f);
    slot.Row(channels_.terminated, r)[0] = 1;
    const std::pair<bp::Handle<float>, double> infos[] = {{channels_.rouge1, scores.rouge1.f},
                                                          {channels_.rouge2, scores.rouge2.f},
                                                          {channels_.rougeL, scores.rougeL.f},
                                                          {channels_.rougeLsum, scores.rougeLsum.f},
                                                          {channels_.tokens, static_cast<double>(generated[r - begin].size())}};
    for (const auto& [channel, value] : infos)
      if (slot.Has(channel)) slot.Row(channel, r)[0] = static_cast<float>(value);
  }
}

std::vector<int32_t> Summarization::Generated(const bp::Slot& slot, uint64_t row) const {
  const std::span<const int32_t> action = slot.Row(channels_.action, row);
  std::vector<int32_t> ids;
  for (int64_t i = 0; i < options_.max_generated_length; ++i) {
    const int32_t id = action[i];
    if (id < 0 || id >= tokenizer_.size)
      throw bp::Error(BP_E_INVALID_ARG, "row " + std::to_string(row) + ": action[" + std::to_string(i) +
                                            "]: expected a token, 0 .. " + std::to_string(tokenizer_.size - 1) + ", got " +
                                            std::to_string(id));
    if (id == tokenizer_.eos || id == tokenizer_.pad) break;
    if (id != tokenizer_.bos) ids.push_back(id);
  }
  return ids;
}

std::vector<std::string> Summarization::Decode(const std::vector<std::vector<int32_t>>& texts) const {
  if (tokenizer_.model) return tokenizer_.model->Decode(texts);
  std::vector<std::string> decoded;
  for (const std::vector<int32_t>& ids : texts) decoded.push_back(tokenizer_.vocabulary->Decode(ids));
  return decoded;
}

rouge::Scores Summarization::Score(const std::string& generated, uint64_t item) const {
  try {
    return scorer_.Score(generated, data_.References(item));
  } catch (const rouge::EmptyText&) {
    return {};  // the score of a summary without words in Korean baselines
  }
}

void Summarization::Read(uint64_t seed, uint64_t first, uint64_t n, const bp::Slot& slot) {
  const std::vector<uint32_t>& order = order_.Of(seed);
  for (uint64_t i = 0; i < n; ++i) {
    Show(slot, i, order[first + i]);
    Answer(slot, i, order[first + i]);
  }
}

void Summarization::Save(uint64_t row, void* out) const { std::memcpy(out, &item_[row], sizeof item_[row]); }

void Summarization::Load(uint64_t row, const void* data) { std::memcpy(&item_[row], data, sizeof item_[row]); }

}  // namespace backplane::summarization
