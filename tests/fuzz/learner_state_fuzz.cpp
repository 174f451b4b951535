// The readers of learner states: a byte selects the learner, the rest is its state. A learner either rejects the state with a
// message or writes the same bytes again.
#include <cstring>
#include <string>
#include <vector>

#include "learners/ars/state.hpp"
#include "learners/mappo/state.hpp"
#include "learners/ppo/state.hpp"
#include "learners/seq2seq/state.hpp"

namespace {

using namespace backplane;

void Need(bool right) {
  if (!right) __builtin_trap();
}

struct Place {
  const uint8_t* data;
  size_t left;
};

bp_status Take(const bp_reader* reader, void* out, uint64_t n) {
  auto* place = static_cast<Place*>(reader->impl);
  if (n > place->left) return BP_E_IO;
  std::memcpy(out, place->data, n);
  place->data += n, place->left -= n;
  return BP_OK;
}

bp_status Append(const bp_writer* writer, const void* data, uint64_t n) {
  static_cast<std::string*>(writer->impl)->append(static_cast<const char*>(data), n);
  return BP_OK;
}

// `read` and `write` of a new learner.
template <class Read, class Write>
void Check(const uint8_t* data, size_t size, Read&& read, Write&& write) {
  Place place{data, size};
  const bp_reader reader{sizeof(bp_reader), 0, &place, Take};
  try {
    read(bp::Reader(&reader));
  } catch (const bp::Error& e) {
    Need(e.what()[0] != '\0');
    return;
  }
  std::string written;
  const bp_writer writer{sizeof(bp_writer), 0, &written, Append};
  write(bp::Writer(&writer));
  const size_t taken = size - place.left;
  // PPO skips running returns for a different number of rows, and writes its own.
  Need(written.size() != taken || std::memcmp(written.data(), data, taken) == 0);
}

void Ppo(const uint8_t* data, size_t size) {
  const rl::SavedShape shape =
      ppo::ShapeOf(ppo::Net({.obs = 2, .actions = 2, .discrete = true, .hidden = {3}, .vf_hidden = {3}}));
  on_policy::Optimizer<float> optimizer(5, "");
  ppo::ObsNormalizer obs(2);
  ppo::RewardNormalizer reward(2, 0.99);
  ppo::Counters counters{};
  Check(
      data, size, [&](const bp::Reader& r) { ppo::ReadState(r, shape, &optimizer, &obs, &reward, &counters); },
      [&](const bp::Writer& w) { ppo::WriteState(w, shape, optimizer, obs, reward, counters); });
}

void Mappo(const uint8_t* data, size_t size) {
  const rl::SavedShape shape =
      mappo::ShapeOf(mappo::Net({.obs = 4, .state = 0, .actions = 3, .hidden = {5, 6}, .vf_hidden = {7}}));
  on_policy::Optimizer<float> optimizer(5, "");
  mappo::ValueNorm norm;
  mappo::Counters counters{};
  Check(
      data, size, [&](const bp::Reader& r) { mappo::ReadState(r, {shape}, &optimizer, {&norm}, &counters); },
      [&](const bp::Writer& w) { mappo::WriteState(w, {shape}, optimizer, {&norm}, counters); });
}

void Ars(const uint8_t* data, size_t size) {
  const ars::StateShape shape{ars::StateShape::kNormalize | ars::StateShape::kAdam, 2, 1, {4}};
  std::vector<double> mean(3), m(3), v(3);
  ars::ObsFilter filter(2);
  ars::Counters counters{};
  Check(
      data, size, [&](const bp::Reader& r) { ars::ReadState(r, shape, &mean, &m, &v, &filter, &counters); },
      [&](const bp::Writer& w) { ars::WriteState(w, shape, mean, m, v, filter, counters); });
}

void Seq2seq(const uint8_t* data, size_t size) {
  seq2seq::BartConfig config;
  config.vocab_size = 3, config.d_model = 1, config.max_position_embeddings = 2;
  config.encoder_layers = config.decoder_layers = 1, config.encoder_ffn_dim = config.decoder_ffn_dim = 1;
  static const seq2seq::Layout layout(config);
  std::vector<float> weights(layout.size()), m(layout.trained()), v(layout.trained());
  uint64_t updates = 0;
  Check(
      data, size,
      [&](const bp::Reader& r) {
        updates = seq2seq::ReadState(r, layout, {weights.data(), m.data(), v.data()});
      },
      [&](const bp::Writer& w) {
        seq2seq::WriteState(w, layout, {weights.data(), m.data(), v.data()}, updates);
      });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr void (*kLearners[])(const uint8_t*, size_t) = {Ppo, Mappo, Ars, Seq2seq};
  if (size > 0) kLearners[data[0] % std::size(kLearners)](data + 1, size - 1);
  return 0;
}
