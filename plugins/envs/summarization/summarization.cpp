#include "summarization.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "rouge/unicode.hpp"

namespace backplane::summarization {
namespace {

// Channels in the order of Spec().
enum {
  kObs,
  kObsLength,
  kLabel,
  kLabelLength,
  kWeight,
  kAction,
  kReward,
  kTerminated,
  kRouge1,
  kRouge2,
  kRougeL,
  kRougeLsum,
  kTokens
};

bp::Channel Tokens(uint16_t role, const char* name, int64_t length, int32_t vocabulary) {
  return {.role = role, .name = name, .shape = {length}, .dtype = bp::kI32, .space = BP_SPACE_TOKENS, .nvec = {vocabulary}};
}
bp::Channel Length(const char* name, int64_t longest) {
  return {.role = BP_ROLE_LENGTH, .name = name, .dtype = bp::kI32, .low = {0}, .high = {static_cast<double>(longest)}};
}

void Write(std::span<const int32_t> tokens, int64_t length, int32_t pad, int32_t* out) {
  std::fill(std::copy(tokens.begin(), tokens.end(), out), out + length, pad);
}

void WarnOfHangul(const bp_host* host, const rouge::Options& options, const Dataset& data) {
  rouge::Letters letters;
  for (uint64_t item = 0; item < data.size(); ++item)
    for (const std::string_view text : data.References(item)) letters.Add(text);
  if (!rouge::MissesHangul(options, letters)) return;
  char text[200];
  std::snprintf(
      text, sizeof text,
      "%.0f %% of the summaries' letters are Hangul, which ROUGE's tokenizer google drops: a text scores nothing against "
      "itself; set rouge_tokenizer: char",
      100 * letters.hangul_share());
  host->log(host, BP_LOG_WARN, text);
}

}  // namespace

Summarization::Summarization(const bp_host* host, const Options& options, uint64_t rows)
    : options_(options),
      vocabulary_(options_.tokenizer),
      data_(options_.data, options_.reading, vocabulary_, options_.caps),
      scorer_(options_.rouge),
      order_(data_.size()),
      item_(rows) {
  // As if each row had just played what comes before its first item, so that a first reset with a mask begins there too.
  for (uint64_t r = 0; r < rows; ++r) item_[r] = (r % data_.size() + data_.size() - rows % data_.size()) % data_.size();
  const ReadReport& report = data_.report();
  if (report.left_out > 0)
    host->log(host, BP_LOG_WARN,
              (options_.data.string() + ": " + std::to_string(report.left_out) + " rows left out, " +
               std::to_string(report.items) + " used; the first left out: " + report.first_left_out)
                  .c_str());
  WarnOfHangul(host, scorer_.options(), data_);
  bp::RecordFact(host, "items", std::to_string(report.items).c_str());
  bp::RecordFact(host, "rows_left_out", std::to_string(report.left_out).c_str());
  bp::RecordFact(host, "rouge", options_.rouge_text.c_str());
}

bp::EnvSpec Summarization::Spec() const {
  return bp::EnvSpec()
      .Add(Tokens(BP_ROLE_OBS, "obs", options_.caps.source, vocabulary_.size()))
      .Add(Length("obs_length", options_.caps.source))
      .Add(Tokens(BP_ROLE_LABEL, "label", options_.caps.target, vocabulary_.size()))
      .Add(Length("label_length", options_.caps.target))
      .Add({.role = BP_ROLE_WEIGHT, .name = "weight"})
      .Add(Tokens(BP_ROLE_ACTION, "action", options_.max_generated_length, vocabulary_.size()))
      .Reward()
      .Terminated()
      .Info("ep/rouge1")
      .Info("ep/rouge2")
      .Info("ep/rougeL")
      .Info("ep/rougeLsum")
      .Info("ep/generated_tokens")
      .MaxEpisodeSteps(1);
}

void Summarization::Show(const bp::Slot& slot, uint64_t row, uint64_t item) const {
  const auto source = data_.Source(item);
  if (slot.Has(kObs)) Write(source, options_.caps.source, vocabulary_.pad(), slot.Row<int32_t>(kObs, row));
  if (slot.Has(kObsLength)) *slot.Row<int32_t>(kObsLength, row) = static_cast<int32_t>(source.size());
  if (slot.Has(kLabelLength)) *slot.Row<int32_t>(kLabelLength, row) = static_cast<int32_t>(data_.Target(item).size());
}

void Summarization::Answer(const bp::Slot& slot, uint64_t row, uint64_t item) const {
  const auto target = data_.Target(item);
  if (slot.Has(kLabel)) Write(target, options_.caps.target, vocabulary_.pad(), slot.Row<int32_t>(kLabel, row));
  if (slot.Has(kWeight)) *slot.Row<float>(kWeight, row) = static_cast<float>(target.size());
}

void Summarization::Reset(const bp::Slot& slot, uint64_t begin, uint64_t end, const uint8_t* mask, const uint64_t*) {
  for (uint64_t r = begin; r < end; ++r) {
    if (mask && !mask[r]) continue;
    item_[r] = (mask ? item_[r] + item_.size() : r) % data_.size();
    Show(slot, r, item_[r]);
  }
}

void Summarization::Step(const bp::Slot& slot, uint64_t begin, uint64_t end) {
  for (uint64_t r = begin; r < end; ++r) {
    const std::vector<int32_t> generated = Generated(slot, r);
    const rouge::Scores scores = Score(generated, item_[r]);
    Show(slot, r, item_[r]);
    Answer(slot, r, item_[r]);
    *slot.Row<float>(kReward, r) = static_cast<float>(scores.rougeL.f);
    *slot.Row<uint8_t>(kTerminated, r) = 1;
    const std::pair<int, double> infos[] = {{kRouge1, scores.rouge1.f},
                                            {kRouge2, scores.rouge2.f},
                                            {kRougeL, scores.rougeL.f},
                                            {kRougeLsum, scores.rougeLsum.f},
                                            {kTokens, static_cast<double>(generated.size())}};
    for (const auto& [channel, value] : infos)
      if (slot.Has(channel)) *slot.Row<float>(channel, r) = static_cast<float>(value);
  }
}

std::vector<int32_t> Summarization::Generated(const bp::Slot& slot, uint64_t row) const {
  const int32_t* action = slot.Row<const int32_t>(kAction, row);
  std::vector<int32_t> ids;
  for (int64_t i = 0; i < options_.max_generated_length; ++i) {
    const int32_t id = action[i];
    if (id < 0 || id >= vocabulary_.size())
      throw bp::Error(BP_E_INVALID_ARG, "row " + std::to_string(row) + ": action[" + std::to_string(i) +
                                            "] should be a token, 0 .. " + std::to_string(vocabulary_.size() - 1) + ", got " +
                                            std::to_string(id));
    if (id == vocabulary_.eos() || id == vocabulary_.pad()) break;
    if (id != vocabulary_.bos()) ids.push_back(id);
  }
  return ids;
}

rouge::Scores Summarization::Score(const std::vector<int32_t>& generated, uint64_t item) const {
  try {
    return scorer_.Score(vocabulary_.Decode(generated), data_.References(item));
  } catch (const rouge::EmptyText&) {
    return {};  // what Korean baselines count for a summary without words
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
