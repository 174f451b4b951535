#include "beams.hpp"

#include <algorithm>
#include <cmath>

namespace backplane::seq2seq {

Beams::Beams(const BartConfig& config, const GenerateOptions& options)
    : config_(config), options_(options), running_(options.num_beams), kept_(options.num_beams) {
  for (Running& beam : running_) beam = {{config.decoder_start_token_id}, -1e9f, 0};  // avoids identical beams
  running_.front().score = 0;
}

void Beams::Step(const std::vector<Candidate>& best) {
  const auto beams = static_cast<size_t>(options_.num_beams);
  std::vector<Running> next;
  const size_t length = running_.front().text.size() + 1;
  const bool last = static_cast<int64_t>(length) >= options_.max_length;
  for (size_t rank = 0; rank < best.size(); ++rank) {
    const Candidate& each = best[rank];
    std::vector<int64_t> text = running_[static_cast<size_t>(each.beam)].text;
    text.push_back(each.token);
    // A text that ends below the first ranks is dropped, because enough better ones remain.
    if (last || each.token == config_.eos_token_id) {
      if (rank < beams) Keep(each, text);
    } else if (next.size() < beams) {
      next.push_back({std::move(text), each.score, each.beam});
    }
  }
  const bool full = std::all_of(kept_.begin(), kept_.end(), [](const Hypothesis& h) { return h.finished; });
  running_ = std::move(next);
  done_ = last || (full && options_.early_stopping == EarlyStopping::kYes) || !CanImprove();
}

void Beams::Keep(const Candidate& candidate, const std::vector<int64_t>& text) {
  const auto generated = static_cast<float>(text.size() - 1);
  Hypothesis made{text, candidate.score / std::pow(generated, static_cast<float>(options_.length_penalty)), true};
  const auto place = std::find_if(kept_.begin(), kept_.end(), [&](const Hypothesis& h) { return made.score > h.score; });
  if (place == kept_.end()) return;
  kept_.insert(place, std::move(made));
  kept_.pop_back();
}

// The estimate of transformers: the best score that the best open text can still reach, compared with the worst kept one.
bool Beams::CanImprove() const {
  if (running_.empty()) return false;
  const auto length = static_cast<float>(running_.front().text.size() - 1);
  const bool farthest = options_.early_stopping == EarlyStopping::kNever && options_.length_penalty > 0;
  const float reach = farthest ? static_cast<float>(options_.max_length - 1) : length;
  const float possible = running_.front().score / std::pow(reach, static_cast<float>(options_.length_penalty));
  const float worst = kept_.back().finished ? kept_.back().score : -1e9f;
  return possible > worst;
}

}  // namespace backplane::seq2seq
