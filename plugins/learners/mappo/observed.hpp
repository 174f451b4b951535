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
      if (parts[i].bytes)
        piece.bytes = bp::View<const int8_t>(tensor, parts[i].name.c_str());
      else
        piece.numbers = bp::View<const float>(tensor, parts[i].name.c_str());
    }
  }
  // One more row: that at `index` of each part.
  template <class... Index>
  void Append(nn::SparseRows* to, Index... index) const {
    for (const Piece& piece : pieces_)
      piece.bytes ? to->Add(piece.bytes.At(index...), piece.size) : to->Add(piece.numbers.At(index...), piece.size);
    to->EndRow();
  }

 private:
  struct Piece {
    bp::View<const float> numbers;
    bp::View<const int8_t> bytes;  // one of both
    int64_t size;
  };
  std::vector<Piece> pieces_;
};

}  // namespace backplane::mappo
