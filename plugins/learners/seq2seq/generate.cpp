#include "generate.hpp"

#include <ATen/ops/from_blob.h>
#include <ATen/ops/log_softmax.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "backplane/plugin.hpp"
#include "beams.hpp"
#include "processors.hpp"
#include "scorer.hpp"

namespace backplane::seq2seq {
namespace {

at::Tensor Longs(const std::vector<int64_t>& values, at::Device device) {
  return at::from_blob(const_cast<int64_t*>(values.data()), {static_cast<int64_t>(values.size())}, at::kLong)
      .to(device, at::kLong, false, /*copy=*/true);
}

// By LibTorch, wherever the weights are.
class TorchScorer final : public Scorer {
 public:
  TorchScorer(const BartConfig& config, const Weights& weights, const at::Tensor& ids, const at::Tensor& lengths,
              int64_t copies, int64_t capacity, bool cached)
      : config_(config), weights_(weights) {
    mask_ = PaddingMask(lengths, ids.size(1));
    memory_ = Encode(config, weights, ids, mask_, {});
    if (copies > 1) {
      memory_ = memory_.repeat_interleave(copies, 0);
      if (mask_.defined()) mask_ = mask_.repeat_interleave(copies, 0);
    }
    if (cached) cache_ = MakeCache(config, weights, memory_, capacity);
  }

  at::Tensor Next(const std::vector<const std::vector<int64_t>*>& texts) override {
    std::vector<int64_t> ids;
    const int64_t n = static_cast<int64_t>(texts.size());
    at::Tensor hidden;
    if (cache_) {
      for (const auto* text : texts) ids.push_back(text->back());
      hidden = DecodeNext(config_, weights_, Longs(ids, memory_.device()), mask_, &*cache_);
    } else {
      for (const auto* text : texts) ids.insert(ids.end(), text->begin(), text->end());
      hidden = Decode(config_, weights_, Longs(ids, memory_.device()).view({n, -1}), memory_, mask_, {}).select(1, -1);
    }
    return Logits(weights_, hidden).cpu();
  }

  void Reorder(const std::vector<int64_t>& from, bool sources_changed) override {
    const at::Tensor index = Longs(from, memory_.device());
    if (sources_changed) {
      memory_ = memory_.index_select(0, index);
      if (mask_.defined()) mask_ = mask_.index_select(0, index);
    }
    if (!cache_) return;
    const auto pick = [&](std::vector<Cache::Entry>* entries) {
      for (Cache::Entry& entry : *entries) {
        entry.key = entry.key.index_select(0, index), entry.value = entry.value.index_select(0, index);
      }
    };
    pick(&cache_->self);
    if (sources_changed) pick(&cache_->cross);
  }

 private:
  const BartConfig& config_;
  const Weights& weights_;
  at::Tensor memory_, mask_;
  std::optional<Cache> cache_;
};

// By our own products, on a processor.
class InferenceScorer final : public Scorer {
 public:
  InferenceScorer(const Inference& network, std::span<const Inference::Source> sources, int64_t copies)
      : vocabulary_(network.vocabulary()), decoding_(network, sources, Copies(sources.size(), copies)) {}

  at::Tensor Next(const std::vector<const std::vector<int64_t>*>& texts) override {
    std::vector<int64_t> last;
    for (const auto* text : texts) last.push_back(text->back());
    return at::from_blob(decoding_.Next(last), {static_cast<int64_t>(texts.size()), vocabulary_}, at::kFloat);
  }
  void Reorder(const std::vector<int64_t>& from, bool) override { decoding_.Reorder(from); }

 private:
  static std::vector<int64_t> Copies(size_t sources, int64_t copies) {
    std::vector<int64_t> of;
    for (size_t i = 0; i < sources; ++i) of.insert(of.end(), static_cast<size_t>(copies), static_cast<int64_t>(i));
    return of;
  }
  int64_t vocabulary_;
  Inference::Decoding decoding_;
};

std::span<float> Row(const at::Tensor& scores, int64_t row) {
  return {scores.data_ptr<float>() + row * scores.size(1), static_cast<size_t>(scores.size(1))};
}

[[noreturn]] void FailOnScores() {
  throw bp::Error(BP_E_NUMERIC,
                  "the scores of a text's tokens are not finite, so no token can be chosen; use a smaller learning_rate or "
                  "a longer warm-up");
}

std::vector<Generated> Greedy(const BartConfig& c, const GenerateOptions& options, int64_t sources, Scorer& scorer) {
  std::vector<Generated> made(sources, {{c.decoder_start_token_id}});
  std::vector<int64_t> open(sources);
  for (int64_t i = 0; i < sources; ++i) open[i] = i;
  for (int64_t length = 1; length < options.max_length && !open.empty(); ++length) {
    std::vector<const std::vector<int64_t>*> texts;
    for (const int64_t i : open) texts.push_back(&made[i].ids);
    const at::Tensor scores = scorer.Next(texts);
    std::vector<int64_t> still, from;
    for (size_t row = 0; row < open.size(); ++row) {
      std::vector<int64_t>& ids = made[open[row]].ids;
      const std::span<float> next = Row(scores, static_cast<int64_t>(row));
      Process(c, options, ids, next);
      const auto best = std::max_element(next.begin(), next.end());
      if (!std::isfinite(*best)) FailOnScores();
      ids.push_back(best - next.begin());
      if (ids.back() != c.eos_token_id) still.push_back(open[row]), from.push_back(static_cast<int64_t>(row));
    }
    if (still.size() < open.size() && !still.empty()) scorer.Reorder(from, true);
    open = std::move(still);
  }
  return made;
}

std::vector<Beams::Candidate> Best(const at::Tensor& values, const at::Tensor& places, int64_t source, int64_t vocabulary) {
  std::vector<Beams::Candidate> best;
  for (int64_t rank = 0; rank < values.size(1); ++rank) {
    const int64_t place = places.data_ptr<int64_t>()[source * values.size(1) + rank];
    best.push_back({place / vocabulary, place % vocabulary, values.data_ptr<float>()[source * values.size(1) + rank]});
  }
  return best;
}

std::vector<Generated> BeamSearch(const BartConfig& c, const GenerateOptions& options, int64_t sources, Scorer& scorer) {
  const int64_t beams = options.num_beams;
  std::vector<Beams> searches(sources, Beams(c, options));
  std::vector<int64_t> open(sources);
  for (int64_t i = 0; i < sources; ++i) open[i] = i;
  while (!open.empty()) {
    std::vector<const std::vector<int64_t>*> texts;
    for (const int64_t i : open) {
      for (int64_t beam = 0; beam < beams; ++beam) texts.push_back(&searches[i].text(beam));
    }
    const at::Tensor scores = scorer.Next(texts).log_softmax(-1);
    for (size_t row = 0; row < texts.size(); ++row) {
      const std::span<float> next = Row(scores, static_cast<int64_t>(row));
      Process(c, options, *texts[row], next);
      const float before = searches[open[row / beams]].score(static_cast<int64_t>(row) % beams);
      for (float& score : next) score += before;
    }
    const auto [values, places] = scores.view({static_cast<int64_t>(open.size()), -1}).topk(2 * beams);
    std::vector<int64_t> still, from;
    for (size_t at = 0; at < open.size(); ++at) {
      Beams& search = searches[open[at]];
      search.Step(Best(values, places, static_cast<int64_t>(at), c.vocab_size));
      if (search.done()) continue;
      still.push_back(open[at]);
      for (int64_t beam = 0; beam < beams; ++beam) from.push_back(static_cast<int64_t>(at) * beams + search.origin(beam));
    }
    if (!still.empty()) scorer.Reorder(from, still.size() < open.size());
    open = std::move(still);
  }
  std::vector<Generated> made;
  for (const Beams& search : searches) {
    if (!search.best().finished) FailOnScores();
    made.push_back({search.best().text, search.best().score});
  }
  return made;
}

std::vector<Generated> Search(const BartConfig& c, const GenerateOptions& options, int64_t sources, Scorer& scorer) {
  return options.num_beams > 1 ? BeamSearch(c, options, sources, scorer) : Greedy(c, options, sources, scorer);
}

}  // namespace

std::vector<Generated> Generate(const BartConfig& config, const Weights& weights, const at::Tensor& ids,
                                const at::Tensor& lengths, const GenerateOptions& options, bool cache) {
  const c10::AutoGradMode no_gradient(false);
  TorchScorer scorer(config, weights, ids, lengths, options.num_beams, options.max_length, cache);
  return Search(config, options, ids.size(0), scorer);
}

std::vector<Generated> Generate(const BartConfig& config, const Inference& network, std::span<const Inference::Source> sources,
                                const GenerateOptions& options) {
  const c10::AutoGradMode no_gradient(false);
  InferenceScorer scorer(network, sources, options.num_beams);
  return Search(config, options, static_cast<int64_t>(sources.size()), scorer);
}

}  // namespace backplane::seq2seq
