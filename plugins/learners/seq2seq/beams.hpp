// The beams of one source: open and finished texts. Needs no LibTorch.
#pragma once

#include <cstdint>
#include <vector>

#include "bart_config.hpp"
#include "generate_options.hpp"

namespace backplane::seq2seq {

class Beams {
 public:
  Beams(const BartConfig& config, const GenerateOptions& options);

  // A beam extended by a token.
  struct Candidate {
    int64_t beam, token;
    float score;  // sum of log probabilities, including the token
  };
  // Processes the 2 * num_beams best candidates, best first.
  void Step(const std::vector<Candidate>& best);

  bool done() const { return done_; }
  const std::vector<int64_t>& text(int64_t beam) const { return running_[static_cast<size_t>(beam)].text; }
  float score(int64_t beam) const { return running_[static_cast<size_t>(beam)].score; }
  // The index before the last Step of the beam that became this one.
  int64_t origin(int64_t beam) const { return running_[static_cast<size_t>(beam)].origin; }

  struct Hypothesis {
    std::vector<int64_t> text;
    float score = -1e9f;  // divided by length^length_penalty
    bool finished = false;
  };
  // Valid once done. Not finished and empty if no score was a number.
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
