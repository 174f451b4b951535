// Texts of any lengths, concatenated without padding.
#pragma once

#include <cstdint>
#include <vector>

#include "bart_config.hpp"

namespace backplane::seq2seq {

// Text i has the tokens, and in computed arrays the rows, [begins[i], begins[i + 1]).
struct PackedTexts {
  std::vector<int32_t> tokens;
  std::vector<int64_t> begins = {0};
  int64_t size() const { return static_cast<int64_t>(begins.size()) - 1; }
  int64_t rows() const { return begins.back(); }
  void EndText() { begins.push_back(static_cast<int64_t>(tokens.size())); }
};

// Throws bp::Error (BP_E_INVALID_ARG) if the network has no such token or position.
void NeedToken(const BartConfig& config, int64_t token, int64_t position);

}  // namespace backplane::seq2seq
