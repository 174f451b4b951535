// Sizes of hidden layers in a saved state: what a learner must have to take it over.
#pragma once

#include <cstdint>
#include <vector>

#include "backplane/learner.hpp"
#include "nn/layers.hpp"

namespace backplane::rl {

inline std::vector<uint64_t> SizesOf(const nn::Trunk& trunk) {
  std::vector<uint64_t> sizes;
  for (const nn::Layer& layer : trunk) sizes.push_back(static_cast<uint64_t>(layer.out));
  return sizes;
}

// `count` and `each` are for the sentence: "number of hidden layers", "hidden layer".
inline void ExpectSizes(const bp::Reader& reader, const std::vector<uint64_t>& sizes, const char* count, const char* each) {
  reader.Expect(sizes.size(), count);
  for (const uint64_t size : sizes) reader.Expect(size, each);
}

}  // namespace backplane::rl
