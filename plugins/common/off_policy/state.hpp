// Pieces of saved states of learners with target networks.
#pragma once

#include <vector>

#include "backplane/learner.hpp"
#include "rl/saved_numbers.hpp"

namespace backplane::off_policy {

inline void WriteNumbers(const bp::Writer& writer, const std::vector<float>& numbers) {
  writer.PutAll(numbers.data(), numbers.size());
}
// Throws bp::Error for a different number of them, or one that is not finite.
inline void ReadNumbers(const bp::Reader& reader, const char* what, std::vector<float>* out) {
  reader.GetAll(out->data(), out->size(), what);
  rl::NeedSavedFinite(out->data(), out->size(), what);
}

}  // namespace backplane::off_policy
