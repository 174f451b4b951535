// The format of a saved seq2seq learner: weights, AdamW's moments, number of updates. Fixed order and no padding, so that equal
// states give equal bytes. Needs no LibTorch.
#pragma once

#include <cstdint>

#include "backplane/learner.hpp"
#include "layout.hpp"

namespace backplane::seq2seq {

// Pointers to the numbers: weights [layout.size()], moments [layout.trained()].
template <class T>
struct StateNumbers {
  T *weights, *first_moment, *second_moment;
};

void WriteState(const bp::Writer& writer, const Layout& layout, const StateNumbers<const float>& numbers, uint64_t updates);
// Returns the number of updates. Throws bp::Error for data that are no state of this layout, possibly after loading a part.
uint64_t ReadState(const bp::Reader& reader, const Layout& layout, const StateNumbers<float>& numbers);

}  // namespace backplane::seq2seq
