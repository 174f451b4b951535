// Observations or states in one or several channels, read as one row of numbers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backplane/learner.hpp"
#include "nn/sparse.hpp"
#include "options.hpp"

namespace backplane::mappo {

inline const bp_tensor* Wanted(const bp::Delivery& delivery, const std::string& name) {
  const bp_tensor* tensor = delivery.Find(name.c_str());
  if (!tensor) throw bp::Error(BP_E_INVALID_ARG, "the delivery has no tensor '" + name + "'");
  return tensor;
}

class Observed {
 public:
  // find(i): the tensor of parts[i], which lasts longer than this.
  template <class Find>
  void Bind(const std::vector<Seen>& parts, Find&& find) {
    pieces_.clear();
    for (size_t i = 0; i < parts.size(); ++i) {
      const bp_tensor* tensor = find(i);
      Piece& piece = pieces_.emplace_back();
      piece.size = parts[i].size;
      const char* const name = parts[i].name.c_str();
      switch (parts[i].numbers) {
        case Numbers::kFloat: piece.numbers = bp::View<const float>(tensor, name); break;
        case Numbers::kInt8: piece.signed_bytes = bp::View<const int8_t>(tensor, name); break;
        case Numbers::kUint8: piece.bytes = bp::View<const uint8_t>(tensor, name); break;
      }
    }
  }
  // One more row: that at `index` of each part.
  template <class... Index>
  void Append(nn::SparseRows* to, Index... index) const {
    for (const Piece& piece : pieces_) {
      if (piece.numbers) to->Add(piece.numbers.At(index...), piece.size);
      if (piece.signed_bytes) to->Add(piece.signed_bytes.At(index...), piece.size);
      if (piece.bytes) to->Add(piece.bytes.At(index...), piece.size);
    }
    to->EndRow();
  }

 private:
  struct Piece {
    bp::View<const float> numbers;  // one of the three
    bp::View<const int8_t> signed_bytes;
    bp::View<const uint8_t> bytes;
    int64_t size;
  };
  std::vector<Piece> pieces_;
};

}  // namespace backplane::mappo
