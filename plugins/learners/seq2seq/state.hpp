// The bytes of a saved seq2seq learner: weights, AdamW's moments, updates done. Fixed order and no padding, so the same state
// gives the same bytes. Needs no LibTorch.
#pragma once

#include <cstdint>

#include "backplane/learner.hpp"
#include "layout.hpp"

namespace backplane::seq2seq {

// Where the numbers lie: weights [layout.size()], moments [layout.trained()].
template <class T>
struct StateNumbers {
  T *weights, *first_moment, *second_moment;
};

void WriteState(const bp::Writer& writer, const Layout& layout, const StateNumbers<const float>& numbers, uint64_t updates);
// Returns the updates done. Throws bp::Error for bytes that are no state of this layout. Part of it may have been taken over
// then.
uint64_t ReadState(const bp::Reader& reader, const Layout& layout, const StateNumbers<float>& numbers);

}  // namespace backplane::seq2seq
