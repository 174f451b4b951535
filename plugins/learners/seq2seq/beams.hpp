// One source's beams: which texts go on and which are finished. Without LibTorch.
#pragma once

#include <cstdint>
#include <vector>

#include "bart_config.hpp"
#include "generate_options.hpp"

namespace backplane::seq2seq {

class Beams {
 public:
  Beams(const BartConfig& config, const GenerateOptions& options);

  // A text that goes on with a token.
  struct Candidate {
    int64_t beam, token;
    float score;  // sum of log probabilities, the token's included
  };
  // Takes the 2 * num_beams best candidates, best first.
  void Step(const std::vector<Candidate>& best);

  bool done() const { return done_; }
  const std::vector<int64_t>& text(int64_t beam) const { return running_[static_cast<size_t>(beam)].text; }
  float score(int64_t beam) const { return running_[static_cast<size_t>(beam)].score; }
  // Which beam of before the last Step each beam came from.
  int64_t origin(int64_t beam) const { return running_[static_cast<size_t>(beam)].origin; }

  struct Hypothesis {
    std::vector<int64_t> text;
    float score = -1e9f;  // divided by length^length_penalty
    bool finished = false;
  };
  // Once done. Not finished and without a text where no score was a number.
  const Hypothesis& best() const { return kept_.front(); }

 private:
  struct Running {
    std::vector<int64_t> text;
    float score = 0;
    int64_t origin = 0;
  };
  void Keep(const Candidate& candidate, const std::vector<int64_t>& text);
  bool CanImprove() const;

  const BartConfig& config_;
  const GenerateOptions& options_;
  std::vector<Running> running_;
  std::vector<Hypothesis> kept_;  // num_beams, best first
  bool done_ = false;
};

}  // namespace backplane::seq2seq
