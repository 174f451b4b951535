#include "state.hpp"

#include <cmath>

#include "rl/saved_numbers.hpp"

namespace backplane::seq2seq {
namespace {

constexpr uint64_t kMagic = 0x3151325342;  // "BS2Q1"

}  // namespace

void WriteState(const bp::Writer& writer, const Layout& layout, const StateNumbers<const float>& numbers, uint64_t updates) {
  writer.Put(kMagic);
  writer.Put(static_cast<uint64_t>(layout.parameters().size()));
  for (const Parameter& parameter : layout.parameters()) writer.Put(static_cast<uint64_t>(parameter.size));
  writer.PutAll(numbers.weights, static_cast<uint64_t>(layout.size()));
  writer.PutAll(numbers.first_moment, static_cast<uint64_t>(layout.trained()));
  writer.PutAll(numbers.second_moment, static_cast<uint64_t>(layout.trained()));
  writer.Put(updates);
}

uint64_t ReadState(const bp::Reader& reader, const Layout& layout, const StateNumbers<float>& numbers) {
  if (reader.Get<uint64_t>() != kMagic)
    throw bp::Error(BP_E_INVALID_ARG, "expected a saved state of learner.seq2seq, format 1, got a different one");
  reader.Expect(layout.parameters().size(), "number of parameters");
  for (const Parameter& parameter : layout.parameters())
    reader.Expect(static_cast<uint64_t>(parameter.size), parameter.name.c_str());
  const auto trained = static_cast<uint64_t>(layout.trained());
  reader.GetAll(numbers.weights, static_cast<uint64_t>(layout.size()), "number of weights");
  reader.GetAll(numbers.first_moment, trained, "size of AdamW's first moment");
  reader.GetAll(numbers.second_moment, trained, "size of AdamW's second moment");
  // Weights in a model's file may be infinite, to ban a token; and squares may overflow.
  rl::NeedSavedFinite(numbers.first_moment, trained, "first moments of AdamW");
  for (uint64_t i = 0; i < trained; ++i)
    if (!(numbers.second_moment[i] >= 0)) rl::RefuseSaved("second moments of AdamW", "0 or more", numbers.second_moment[i]);
  return reader.Get<uint64_t>();
}

}  // namespace backplane::seq2seq
