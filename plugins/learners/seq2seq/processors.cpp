#include "processors.hpp"

#include <algorithm>
#include <limits>

namespace backplane::seq2seq {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

// An n-gram of the text may not come again.
void BanRepeats(std::span<const int64_t> so_far, size_t n, std::span<float> scores) {
  if (so_far.size() < n) return;
  const auto last = so_far.last(n - 1);
  for (size_t i = 0; i + n <= so_far.size(); ++i) {
    const auto seen = so_far.subspan(i, n - 1);
    if (std::equal(seen.begin(), seen.end(), last.begin())) scores[static_cast<size_t>(so_far[i + n - 1])] = kNever;
  }
}

void Force(int64_t token, std::span<float> scores) {
  std::fill(scores.begin(), scores.end(), kNever);
  scores[static_cast<size_t>(token)] = 0;
}

}  // namespace

void Process(const BartConfig& config, const GenerateOptions& options, std::span<const int64_t> so_far,
             std::span<float> scores) {
  const auto length = static_cast<int64_t>(so_far.size());
  if (options.no_repeat_ngram_size > 0) BanRepeats(so_far, static_cast<size_t>(options.no_repeat_ngram_size), scores);
  if (length < options.min_length) scores[static_cast<size_t>(config.eos_token_id)] = kNever;
  if (length == 1 && config.forced_bos_token_id >= 0) Force(config.forced_bos_token_id, scores);
  if (length == options.max_length - 1 && config.forced_eos_token_id >= 0) Force(config.forced_eos_token_id, scores);
}

}  // namespace backplane::seq2seq
