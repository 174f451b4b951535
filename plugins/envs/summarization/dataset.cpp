#include "dataset.hpp"

#include <limits>
#include <numeric>
#include <utility>

#include "backplane/plugin.hpp"
#include "backplane/rng.h"
#include "encode_ahead.hpp"

namespace backplane::summarization {

Dataset::Dataset(const std::string& path, const ReadOptions& options, const Vocabulary& vocabulary, Caps caps) {
  const EncodedAhead ahead(path, options, vocabulary, caps.source, caps.target);
  const auto encode = [&](const std::string& text, int64_t cap, const Place& place, Part part) {
    if (!ahead.Append(place.row, part, &own_tokens_) && vocabulary.Encode(text, cap, &own_tokens_) == 0) {
      own_tokens_.resize(token_begin_[2 * size()]);
      token_begin_.resize(2 * size() + 1);
      throw BadRow(place, "expected a text with a token, got " + Excerpt(text));
    }
    token_begin_.push_back(own_tokens_.size());
  };
  Read(path, options, [&](const Record& record) {
    encode(record.source, caps.source, record.place, Part::kSource);
    encode(record.targets[0], caps.target, record.place, Part::kTarget);
  });
  own_tokens_.shrink_to_fit();
  tokens_ = own_tokens_;
}

Dataset::Dataset(const std::string& path, const ReadOptions& options, ModelTokenizer* tokenizer) {
  std::vector<Place> places;
  Read(path, options, [&](const Record& record) {
    tokenizer->Add(record.source);
    tokenizer->Add(record.targets[0]);
    places.push_back(record.place);
  });
  const ModelTokenizer::Encoded encoded = tokenizer->Finish();
  tokens_ = encoded.tokens, unknown_tokens_ = encoded.unknown;
  for (const ModelTokenizer::Encoded::Text& text : encoded.texts) token_begin_.push_back(token_begin_.back() + text.tokens);
  for (size_t i = 0; i < encoded.texts.size(); ++i) {
    if (encoded.texts[i].own > 0) continue;
    const Place& place = places[i / 2];
    throw bp::ConfigError(path + ": row " + std::to_string(place.row) + " (line " + std::to_string(place.line) +
                          "): expected a text with a token, but the tokenizer makes none of " +
                          (i % 2 == 0 ? "its document" : "its summary"));
  }
}

void Dataset::Read(const std::string& path, const ReadOptions& options, const std::function<void(const Record&)>& encode) {
  std::vector<uint64_t> text_end;
  report_ = ReadRecords(path, options, [&](const Record& record) {
    encode(record);
    for (const std::string& target : record.targets) text_end.push_back((texts_ += target).size());
    reference_begin_.push_back(text_end.size());
    if (size() > std::numeric_limits<uint32_t>::max()) throw bp::ConfigError(path + ": expected at most 2^32 rows, got more");
  });
  if (size() == 0)
    throw bp::ConfigError(path + ": has no usable row" +
                          (report_.left_out > 0 ? "; the first left out: " + report_.first_left_out : ""));
  references_.reserve(text_end.size());
  for (uint64_t begin = 0; const uint64_t end : text_end)
    references_.push_back(std::string_view(texts_).substr(begin, end - begin)), begin = end;
}

uint64_t Dataset::Fingerprint() const {
  uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a over whole tokens
  for (const int32_t token : tokens_) hash = (hash ^ static_cast<uint32_t>(token)) * 0x100000001b3u;
  for (const uint64_t begin : token_begin_) hash = (hash ^ begin) * 0x100000001b3u;
  return hash;
}

const std::vector<uint32_t>& EpochOrder::Of(uint64_t seed) {
  if (!order_.empty() && seed == seed_) return order_;
  seed_ = seed;
  order_.resize(items_);
  std::iota(order_.begin(), order_.end(), 0);
  if (seed == 0) return order_;
  bp_rng rng{seed, 0};  // Fisher and Yates, from the end
  for (uint64_t i = items_; i > 1; --i) std::swap(order_[i - 1], order_[bp_rng_below(&rng, i)]);
  return order_;
}

}  // namespace backplane::summarization
