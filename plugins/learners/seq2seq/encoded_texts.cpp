#include "encoded_texts.hpp"

#include <algorithm>
#include <utility>

namespace backplane::seq2seq {

EncodedTexts::EncodedTexts(const Inference& network, const std::vector<std::span<const int32_t>>& texts)
    : sources_(network.Encode(texts)) {
  for (const auto& text : texts) texts_.emplace_back(text.begin(), text.end());
}

const Inference::Source* EncodedTexts::Find(std::span<const int32_t> text) const {
  for (size_t i = 0; i < texts_.size(); ++i)
    if (std::ranges::equal(texts_[i], text)) return &sources_[i];
  return nullptr;
}

void TextReader::Keep(EncodedTexts texts) {
  const std::lock_guard lock(mutex_);
  kept_[std::this_thread::get_id()] = std::move(texts);
}

EncodedTexts TextReader::TakeOwn() {
  const std::lock_guard lock(mutex_);
  return std::exchange(kept_[std::this_thread::get_id()], {});
}

std::vector<double> TextReader::LabelLosses(const std::vector<std::span<const int32_t>>& texts,
                                            const std::vector<std::span<const int32_t>>& labels) {
  const EncodedTexts own = TakeOwn();
  std::vector<std::span<const int32_t>> others;
  for (const auto& text : texts)
    if (!own.Find(text)) others.push_back(text);
  const std::vector<Inference::Source> encoded = network_.Encode(others);
  std::vector<const Inference::Source*> sources;
  for (auto next = encoded.begin(); const auto& text : texts) {
    const Inference::Source* const known = own.Find(text);
    sources.push_back(known ? known : &*next++);
  }
  return network_.LabelLosses(sources, labels);
}

}  // namespace backplane::seq2seq
