// Texts with summaries in the host's tensors, divided into micro-batches as in the host.
#pragma once

#include <algorithm>
#include <deque>
#include <numeric>

#include "backplane/rng.h"
#include "fake_host.hpp"
#include "model.hpp"

namespace backplane::seq2seq::testing {

using backplane::test_support::Buffer;

struct Text {
  std::vector<int32_t> source, label;
};

// bos, random tokens, eos, of random lengths up to the caps.
inline std::vector<Text> RandomTexts(int64_t n, int32_t vocabulary, int64_t max_source, int64_t max_label, uint64_t seed) {
  bp_rng rng{seed, 0};
  const auto tokens = [&](int64_t cap) {
    std::vector<int32_t> ids(3 + bp_rng_below(&rng, static_cast<uint64_t>(cap - 2)), 0);
    for (int32_t& id : ids) id = static_cast<int32_t>(4 + bp_rng_below(&rng, static_cast<uint64_t>(vocabulary - 4)));
    ids.front() = 0, ids.back() = 2;
    return ids;
  };
  std::vector<Text> texts;
  for (int64_t i = 0; i < n; ++i) texts.push_back({tokens(max_source), tokens(max_label)});
  return texts;
}

// A group's micro-batches of m texts, the longest first if sorted. Each is trimmed to its longest text, in rows padded for
// more.
class Group {
 public:
  Group(std::vector<Text> texts, int64_t m, bool sort, int32_t pad = 1) {
    const auto key = [](const Text& t) { return std::pair(t.source.size(), t.label.size()); };
    if (sort) std::stable_sort(texts.begin(), texts.end(), [&](const Text& a, const Text& b) { return key(a) > key(b); });
    for (size_t at = 0; at < texts.size(); at += static_cast<size_t>(m)) {
      const size_t n = std::min(static_cast<size_t>(m), texts.size() - at);
      Part& part = parts_.emplace_back(std::vector<Text>(texts.begin() + at, texts.begin() + at + n), pad);
      batches.push_back({&part.source.tensor, &part.source_length.tensor, &part.label.tensor, &part.label_length.tensor});
      weight += static_cast<double>(batches.back().LabelTokens());
    }
  }
  std::vector<MicroBatch> batches;
  double weight = 0;

 private:
  static constexpr int64_t kRow = 128;  // of the whole channel
  struct Part {
    Part(const std::vector<Text>& texts, int32_t pad)
        : source({Size(texts), kRow}), label({Size(texts), kRow}), source_length({Size(texts)}), label_length({Size(texts)}) {
      Fill(texts, pad, &Text::source, &source, &source_length);
      Fill(texts, pad, &Text::label, &label, &label_length);
    }
    static int64_t Size(const std::vector<Text>& texts) { return static_cast<int64_t>(texts.size()); }
    static void Fill(const std::vector<Text>& texts, int32_t pad, std::vector<int32_t> Text::*side, Buffer<int32_t>* ids,
                     Buffer<int32_t>* lengths) {
      std::fill(ids->data.begin(), ids->data.end(), pad);
      ids->shape[1] = 0;
      for (size_t i = 0; i < texts.size(); ++i) {
        const std::vector<int32_t>& text = texts[i].*side;
        std::copy(text.begin(), text.end(), ids->data.begin() + i * kRow);
        lengths->data[i] = static_cast<int32_t>(text.size());
        ids->shape[1] = std::max(ids->shape[1], static_cast<int64_t>(text.size()));
      }
    }
    Buffer<int32_t> source, label, source_length, label_length;
  };
  std::deque<Part> parts_;
};

}  // namespace backplane::seq2seq::testing
