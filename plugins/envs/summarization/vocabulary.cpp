#include "vocabulary.hpp"

#include <algorithm>

#include "backplane/plugin.hpp"

namespace backplane::summarization {

Vocabulary::Vocabulary(const std::string& path) {
  const auto status = processor_.Load(path);
  if (!status.ok()) throw bp::ConfigError(path + ": expected a SentencePiece model: " + status.error_message());
  size_ = processor_.GetPieceSize();
  bos_ = processor_.bos_id(), eos_ = processor_.eos_id(), pad_ = processor_.pad_id();
  if (eos_ < 0 || pad_ < 0)
    throw bp::ConfigError(path + ": the model has no piece for " + (eos_ < 0 ? "the end (</s>)" : "padding (<pad>)") +
                          "; train it with spm_train --bos_id=0 --pad_id=1 --eos_id=2 --unk_id=3");
}

uint64_t Vocabulary::Encode(std::string_view text, int64_t max_length, std::vector<int32_t>* out) const {
  std::vector<int> pieces;
  const auto status = processor_.Encode(text, &pieces);
  if (!status.ok())
    throw bp::Error(BP_E_INTERNAL, "SentencePiece cannot encode a text: " + std::string(status.error_message()));
  if (bos_ >= 0) out->push_back(bos_);
  const int64_t ends = bos_ >= 0 ? 2 : 1;
  out->insert(out->end(), pieces.begin(), pieces.begin() + std::min<int64_t>(pieces.size(), max_length - ends));
  out->push_back(eos_);
  return pieces.size();
}

std::string Vocabulary::Decode(std::span<const int32_t> ids) const {
  std::string text;
  const auto status = processor_.Decode(std::vector<int>(ids.begin(), ids.end()), &text);
  if (!status.ok()) throw bp::Error(BP_E_INTERNAL, "SentencePiece cannot decode ids: " + std::string(status.error_message()));
  return text;
}

}  // namespace backplane::summarization
