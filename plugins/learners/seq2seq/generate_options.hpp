#pragma once

#include <cstdint>

#include "backplane/options.hpp"

namespace backplane::seq2seq {

enum class EarlyStopping { kNo, kYes, kNever };
constexpr auto WordsOf(EarlyStopping) {
  return bp::Words<EarlyStopping>(
      {{"false", EarlyStopping::kNo}, {"true", EarlyStopping::kYes}, {"never", EarlyStopping::kNever}});
}

// Lengths count the start token.
struct GenerateOptions {
  int64_t num_beams = 1, max_length = 20, min_length = 0, no_repeat_ngram_size = 0;  // 0: off
  double length_penalty = 1;
  EarlyStopping early_stopping = EarlyStopping::kNo;
};

}  // namespace backplane::seq2seq
