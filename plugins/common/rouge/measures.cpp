#include "rouge/measures.hpp"

#include <algorithm>

namespace backplane::rouge {
namespace {

void CopyNumbered(Ids numbers, const Text& text, Text* out) {
  out->tokens.assign(numbers.begin(), numbers.end());
  out->ends = text.ends;
}

}  // namespace

Scores Measures::All(const Text& prediction, const Text& reference) {
  ngrams_.Start(prediction.tokens, reference.tokens);
  CopyNumbered(ngrams_.prediction(), prediction, &prediction_);
  CopyNumbered(ngrams_.reference(), reference, &reference_);
  const Id distinct = ngrams_.distinct();
  Scores out;
  out.rouge1 = Grams();
  if (impl_ == Impl::kGoogle) {
    const size_t length = lcs_.Length(prediction_.tokens, reference_.tokens, distinct);
    out.rougeL = Rate({prediction_.tokens.size(), reference_.tokens.size(), length});
    // For single lines, the union of subsequences is the subsequence itself.
    const bool lines = prediction_.ends.size() > 1 || reference_.ends.size() > 1;
    out.rougeLsum = lines ? GoogleLines(prediction_, reference_) : out.rougeL;
  } else {
    out.rougeL = out.rougeLsum = PltrdyPieces(prediction_, reference_);
  }
  ngrams_.Extend();
  out.rouge2 = Grams();
  return out;
}

Score Measures::Gram(int n, const Text& prediction, const Text& reference) {
  ngrams_.Start(prediction.tokens, reference.tokens);
  for (int i = 1; i < n && !(ngrams_.prediction().empty() && ngrams_.reference().empty()); ++i) ngrams_.Extend();
  return Grams();
}

Score Measures::Grams() { return Rate(impl_ == Impl::kGoogle ? ngrams_.CountAll() : ngrams_.CountDistinct()); }

// rouge_score's _summary_level_lcs: for each line of the reference, the union of its common subsequences with all lines of the
// prediction. A token counts at most as often as on either side.
Score Measures::GoogleLines(const Text& prediction, const Text& reference) {
  const Id distinct = ngrams_.distinct();
  const Text* texts[] = {&prediction, &reference};
  for (int side = 0; side < 2; ++side) {
    left_[side].assign(distinct, 0);
    for (const Id token : texts[side]->tokens) ++left_[side][token];
  }
  size_t hits = 0;
  for (size_t r = 0; r < reference.ends.size(); ++r) {
    const Ids line = reference.piece(r);
    marked_.assign(line.size(), 0);
    for (size_t p = 0; p < prediction.ends.size(); ++p)
      for (const size_t i : lcs_.Trace(prediction.piece(p), line, distinct)) marked_[i] = 1;
    for (size_t i = 0; i < line.size(); ++i) {
      Id &in_prediction = left_[0][line[i]], &in_reference = left_[1][line[i]];
      if (!marked_[i] || in_prediction == 0 || in_reference == 0) continue;
      ++hits, --in_prediction, --in_reference;
    }
  }
  return Rate({prediction.tokens.size(), reference.tokens.size(), hits});
}

// rouge's rouge_l_summary_level: distinct tokens of the common subsequences of all pairs of pieces.
Score Measures::PltrdyPieces(const Text& prediction, const Text& reference) {
  const Id distinct = ngrams_.distinct();
  marked_.assign(distinct, 0);
  for (size_t r = 0; r < reference.ends.size(); ++r)
    for (size_t p = 0; p < prediction.ends.size(); ++p) {
      const Ids columns = prediction.piece(p);
      for (const size_t i : lcs_.Trace(reference.piece(r), columns, distinct)) marked_[columns[i]] = 1;
    }
  Overlap overlap = ngrams_.CountDistinct();
  overlap.shared = static_cast<size_t>(std::count(marked_.begin(), marked_.end(), 1));
  return Rate(overlap);
}

Score Measures::Rate(Overlap overlap) const {
  const auto share = [&](size_t all) {
    return all == 0 ? 0.0 : static_cast<double>(overlap.shared) / static_cast<double>(all);
  };
  const double p = share(overlap.prediction), r = share(overlap.reference);
  if (impl_ == Impl::kPltrdy) return {p, r, 2.0 * (p * r / (p + r + 1e-8))};
  return {p, r, p + r > 0 ? 2 * p * r / (p + r) : 0};
}

}  // namespace backplane::rouge
