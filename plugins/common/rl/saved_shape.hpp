// The header of a saved learner, which must match the learner that loads it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backplane/learner.hpp"
#include "nn/layers.hpp"

namespace backplane::rl {

struct SavedShape {
  struct Number {
    uint64_t value;
    const char* what;
  };
  uint64_t magic;
  const char* format;  // "learner.ppo, format 2"
  std::vector<Number> numbers;
  std::vector<uint64_t> hidden;                      // sizes of hidden layers
  std::optional<std::vector<uint64_t>> critic = {};  // of the critic, if there is one

  void Write(const bp::Writer& writer) const {
    writer.Put(magic);
    for (const Number& each : numbers) writer.Put(each.value);
    writer.PutAll(hidden.data(), hidden.size());
    if (critic) writer.PutAll(critic->data(), critic->size());
  }
  // Number of bytes that Write writes.
  uint64_t size() const {
    const uint64_t of_critic = critic ? 1 + critic->size() : 0;
    return sizeof(uint64_t) * (1 + numbers.size() + 1 + hidden.size() + of_critic);
  }
  // Throws bp::Error if the data start differently.
  void Expect(const bp::Reader& reader) const {
    if (reader.Get<uint64_t>() != magic)
      throw bp::Error(BP_E_INVALID_ARG, std::string("expected a saved state of ") + format + ", got a different one");
    for (const Number& each : numbers) reader.Expect(each.value, each.what);
    reader.Expect(hidden.size(), "number of hidden layers");
    for (const uint64_t size : hidden) reader.Expect(size, "hidden layer");
    if (!critic) return;
    reader.Expect(critic->size(), "number of the critic's hidden layers");
    for (const uint64_t size : *critic) reader.Expect(size, "hidden layer of the critic");
  }
};

inline std::vector<uint64_t> SizesOf(const nn::Trunk& trunk) {
  std::vector<uint64_t> sizes;
  for (const nn::Layer& layer : trunk) sizes.push_back(static_cast<uint64_t>(layer.out));
  return sizes;
}

}  // namespace backplane::rl
