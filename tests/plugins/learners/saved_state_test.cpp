// Saved bytes of learners, written here by hand: old states stay readable, and the reader trusts no byte.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

#include "learners/ars/state.hpp"
#include "learners/dqn/epsilon.hpp"
#include "learners/dqn/state.hpp"
#include "learners/mappo/state.hpp"
#include "learners/ppo/state.hpp"
#include "learners/sac/state.hpp"
#include "learners/seq2seq/state.hpp"
#include "learners/td3/state.hpp"

namespace backplane {
namespace {

using testing::HasSubstr;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

class Bytes {
 public:
  Bytes& U(std::initializer_list<uint64_t> values) { return Add(values); }
  Bytes& D(std::initializer_list<double> values) { return Add(values); }
  Bytes& F(std::initializer_list<float> values) { return Add(values); }
  std::string text;

 private:
  template <class T>
  Bytes& Add(std::initializer_list<T> values) {
    for (const T value : values) text.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
};

struct Place {
  const std::string& bytes;
  size_t at = 0;
};

// The reason for the rejection of the bytes; empty if they are accepted.
std::string Refusal(const std::string& bytes, const std::function<void(const bp::Reader&)>& read) {
  Place place{bytes};
  const bp_reader reader{sizeof(bp_reader), 0, &place, [](const bp_reader* self, void* out, uint64_t n) -> bp_status {
                           auto* from = static_cast<Place*>(self->impl);
                           if (n > from->bytes.size() - from->at) return BP_E_IO;
                           std::memcpy(out, from->bytes.data() + from->at, n);
                           from->at += n;
                           return BP_OK;
                         }};
  try {
    read(bp::Reader(&reader));
  } catch (const bp::Error& e) {
    return e.what();
  }
  EXPECT_EQ(place.at, bytes.size()) << "no byte is left over";
  return "";
}

std::string Written(const std::function<void(const bp::Writer&)>& write) {
  std::string bytes;
  const bp_writer writer{sizeof(bp_writer), 0, &bytes, [](const bp_writer* self, const void* data, uint64_t n) -> bp_status {
                           static_cast<std::string*>(self->impl)->append(static_cast<const char*>(data), n);
                           return BP_OK;
                         }};
  write(bp::Writer(&writer));
  return bytes;
}

// Rules for every learner: the bytes are read, and written the same. Each cut is rejected, and so are wrong sizes, counts and
// lengths in the first `sizes` numbers.
void CheckBytes(const std::string& bytes, size_t sizes, const std::function<void(const bp::Reader&)>& read,
                const std::function<void(const bp::Writer&)>& write) {
  ASSERT_EQ(Refusal(bytes, read), "");
  EXPECT_EQ(Written(write), bytes);
  for (size_t size = 0; size < bytes.size(); ++size) ASSERT_NE(Refusal(bytes.substr(0, size), read), "") << size << " bytes";
  for (size_t i = 0; i < sizes; ++i) {
    for (const uint64_t wrong : {uint64_t{0}, uint64_t{1} << 61, ~uint64_t{0}}) {
      std::string other = bytes;
      if (std::memcmp(other.data() + 8 * i, &wrong, 8) == 0) continue;
      std::memcpy(other.data() + 8 * i, &wrong, 8);
      ASSERT_NE(Refusal(other, read), "") << "number " << i << " as " << wrong;
    }
  }
}

class SavedPpo : public testing::Test {
 protected:
  static std::string State(float second_moment = 0, uint64_t steps = 7, double count = 5, double var = 0.25, double lr = 0.001,
                           uint64_t returns = 2) {
    Bytes b;
    b.U({0x324F50502D5042, 3, 2, 2, 1, 3, 1, 4});  // discrete, tanh; 2 observations, 2 actions; a layer of 3, one of 4
    b.U({2}).F({0.5f, -1}).U({2}).F({0, 0.25f}).U({2}).F({1, second_moment}).U({steps});
    b.D({count}).U({2}).D({1, 2}).U({2}).D({1, var});
    b.D({9}).U({1}).D({3}).U({1}).D({4}).U({returns});
    for (uint64_t i = 0; i < std::min<uint64_t>(returns, 4); ++i) b.D({1.5});
    return b.D({lr}).U({11, 13}).text;
  }
  void Read(const bp::Reader& reader) { ppo::ReadState(reader, shape_, &optimizer_, &obs_, &reward_, &counters_); }
  std::string Why(const std::string& bytes) {
    return Refusal(bytes, [&](const bp::Reader& reader) { Read(reader); });
  }

  const rl::SavedShape shape_ =
      ppo::ShapeOf(ppo::Net({.obs = 2, .actions = 2, .discrete = true, .hidden = {3}, .vf_hidden = {4}}));
  on_policy::Optimizer<float> optimizer_{2, ""};
  ppo::ObsNormalizer obs_{2};
  ppo::RewardNormalizer reward_{2, 0.99};
  ppo::Counters counters_{};
};

TEST_F(SavedPpo, IsReadAndHeldToItsShape) {
  CheckBytes(
      State(), 9, [&](const bp::Reader& reader) { Read(reader); },
      [&](const bp::Writer& writer) { ppo::WriteState(writer, shape_, optimizer_, obs_, reward_, counters_); });
  EXPECT_EQ(optimizer_.params()[1], -1);
  EXPECT_EQ(obs_.stats().mean(1), 2);
  EXPECT_EQ(reward_.stats().var(0), 4);
  EXPECT_EQ(counters_.epochs_done, 11u);
  EXPECT_EQ(counters_.version, 13u);
}

TEST_F(SavedPpo, HoldsNoImpossibleNumber) {
  EXPECT_THAT(Why(State(-1)), HasSubstr("second moments of Adam: expected finite and 0 or more, got -1"));
  EXPECT_THAT(Why(State(static_cast<float>(kNaN))), HasSubstr("second moments"));
  EXPECT_THAT(Why(State(0, static_cast<uint64_t>(-3))), HasSubstr("a number of steps: expected finite and 0 or more, got -3"));
  EXPECT_THAT(Why(State(0, 7, kNaN)), HasSubstr("observation statistics"));
  EXPECT_THAT(Why(State(0, 7, -1)), HasSubstr("observation statistics"));
  EXPECT_THAT(Why(State(0, 7, 5, -0.5)), HasSubstr("observation statistics"));
  EXPECT_THAT(Why(State(0, 7, 5, 0.25, INFINITY)), HasSubstr("learning rate"));
}

// A different number of rows is no error, because an evaluation has its own. Memory for 2^60 rows is never allocated.
TEST_F(SavedPpo, RunningReturnsOfOtherRowsArePassedOver) {
  EXPECT_EQ(Why(State(0, 7, 5, 0.25, 0.001, 4)), "");
  EXPECT_EQ(counters_.version, 13u);
  EXPECT_EQ(Why(State(0, 7, 5, 0.25, 0.001, 0)), "");
  EXPECT_THAT(Why(State(0, 7, 5, 0.25, 0.001, 1ull << 60)), HasSubstr("cut short"));
}

TEST(SavedMappo, IsReadAndHeldToItsShape) {
  const rl::SavedShape shape =
      mappo::ShapeOf(mappo::Net({.obs = 4, .state = 0, .actions = 3, .hidden = {5, 6}, .vf_hidden = {7}}));
  on_policy::Optimizer<float> optimizer(2, "");
  mappo::ValueNorm norm;
  mappo::Counters counters{};
  const auto state = [](double q, double d) {
    Bytes b;
    b.U({0x314F50504D5042, 1, 4, 0, 3, 2, 5, 6, 1, 7});
    b.U({2}).F({0.5f, -1}).U({2}).F({0, 0.25f}).U({2}).F({1, 2}).U({7});
    return b.D({-0.5, q, d}).U({11, 13}).text;
  };
  const auto read = [&](const bp::Reader& reader) { mappo::ReadState(reader, {shape}, &optimizer, {&norm}, &counters); };
  CheckBytes(state(2, 0.5), 11, read,
             [&](const bp::Writer& writer) { mappo::WriteState(writer, {shape}, optimizer, {&norm}, counters); });
  EXPECT_EQ(norm.mean(), -1);
  EXPECT_EQ(counters.version, 13u);
  EXPECT_THAT(Refusal(state(-2, 0.5), read), HasSubstr("statistics of returns"));
  EXPECT_THAT(Refusal(state(2, kNaN), read), HasSubstr("statistics of returns"));
}

TEST(SavedMappo, WithGroupsHasAHeaderPerGroup) {
  const auto shape = [](int64_t obs) {
    return mappo::ShapeOf(mappo::Net({.obs = obs, .state = 0, .actions = 3, .hidden = {5}, .vf_hidden = {7}}));
  };
  on_policy::Optimizer<float> optimizer(2, "");
  mappo::ValueNorm norms[2];
  mappo::Counters counters{};
  Bytes b;
  b.U({0x474F50504D5042, 2, 0x314F50504D5042, 1, 4, 0, 3, 1, 5, 1, 7, 0x314F50504D5042, 1, 6, 0, 3, 1, 5, 1, 7});
  b.U({2}).F({0.5f, -1}).U({2}).F({0, 0.25f}).U({2}).F({1, 2}).U({7});
  const std::string state = b.D({-0.5, 2, 0.5}).D({3, 20, 1}).U({11, 13}).text;
  const auto reads = [&](const mappo::SavedShapes& shapes) {
    return [&, shapes](const bp::Reader& reader) {
      mappo::ReadState(reader, shapes, &optimizer, {&norms[0], &norms[1]}, &counters);
    };
  };
  CheckBytes(state, 21, reads({shape(4), shape(6)}), [&](const bp::Writer& writer) {
    mappo::WriteState(writer, {shape(4), shape(6)}, optimizer, {&norms[0], &norms[1]}, counters);
  });
  EXPECT_EQ(norms[1].mean(), 3);
  EXPECT_THAT(Refusal(state, reads({shape(4), shape(5)})), HasSubstr("observation size: expected 5, got 6"));
  EXPECT_THAT(Refusal(state, reads({shape(4), shape(6), shape(1)})), HasSubstr("number of groups: expected 3, got 2"));
}

TEST(SavedMappo, WithOtherActionsNamesTheDistributions) {
  using on_policy::Kind;
  on_policy::Distributions action;
  action.Add(Kind::kGaussian, 2), action.Add(Kind::kChoice, 3);
  const auto shape = [](const on_policy::Distributions& of, int64_t memory) {
    return mappo::ShapeOf(mappo::Net(
        {.obs = 4, .state = 0, .actions = 0, .hidden = {5}, .vf_hidden = {7}, .memory = memory, .distributions = of}));
  };
  Bytes saved;
  saved.U({0x324F50504D5042, 1, 4, 0, 5, 6, 2, 0, 2, 1, 3, 1, 5, 1, 7});
  const auto read = [&](const rl::SavedShape& as) {
    return Refusal(saved.text, [&](const bp::Reader& reader) { as.Expect(reader); });
  };
  EXPECT_EQ(read(shape(action, 6)), "");
  EXPECT_THAT(read(shape(action, 0)), HasSubstr("size of the memory: expected 0, got 6"));
  EXPECT_EQ(shape(action, 6).size(), saved.text.size());
  on_policy::Distributions other;
  other.Add(Kind::kBits, 2), other.Add(Kind::kChoice, 3);
  EXPECT_THAT(read(shape(other, 6)), HasSubstr("kind of a distribution (0 numbers, 1 choice, 2 bits): expected 2, got 0"));
}

// An observation, an action, no hidden layers: 4 numbers of the actor (means and deviations), 6 of the critics.
class SavedSac : public testing::Test {
 protected:
  static std::string State(float target = 6, double log_alpha = -1.5, double second = 0.25, uint64_t steps = 7) {
    Bytes b;
    b.U({0x314341532D5042, 0, 1, 1, 0, 0});
    b.U({4}).F({1, 2, 3, 4}).U({4}).F({0, 0, 0, .5f}).U({4}).F({1, 1, 1, 1}).U({7});
    b.U({6}).F({1, 2, 3, 4, 5, 6}).U({6}).F({0, 0, 0, 0, 0, .5f}).U({6}).F({1, 1, 1, 1, 1, 1}).U({7});
    return b.U({6}).F({1, 2, 3, 4, 5, target}).D({log_alpha, .5, second}).U({steps, 9}).text;
  }
  std::string Why(const std::string& bytes) {
    return Refusal(bytes, [&](const bp::Reader& reader) { sac::ReadTrainer(reader, &trainer_); });
  }

  sac::Trainer<float> trainer_{sac::Net({1, 1, {}, {}}), {}, sac::Temperature(1, true, -1), on_policy::OnOneThread(), ""};
};

TEST_F(SavedSac, IsReadAndHeldToItsShape) {
  CheckBytes(
      State(), 7, [&](const bp::Reader& reader) { sac::ReadTrainer(reader, &trainer_); },
      [&](const bp::Writer& writer) { sac::WriteTrainer(writer, trainer_); });
  EXPECT_EQ(trainer_.targets()[5], 6);
  EXPECT_EQ(trainer_.temperature().alpha(), std::exp(-1.5));
  EXPECT_EQ(trainer_.updates(), 9u);
}

TEST_F(SavedSac, HoldsNoImpossibleNumber) {
  EXPECT_THAT(Why(State(static_cast<float>(kNaN))), HasSubstr("target networks: expected finite"));
  EXPECT_THAT(Why(State(6, kNaN)), HasSubstr("log alpha: expected finite"));
  EXPECT_THAT(Why(State(6, 0, -1)), HasSubstr("second moment of log alpha"));
  EXPECT_THAT(Why(State(6, 0, 1, static_cast<uint64_t>(-3))), HasSubstr("a number of steps"));
}

// The policy's head is written as a layer of the means, then one of the deviations: weights [in, actions], biases [actions].
TEST_F(SavedSac, PolicyHasTheMeansApart) {
  ASSERT_EQ(Why(State()), "");
  const std::string policy = Written([&](const bp::Writer& writer) { sac::WritePolicy(writer, trainer_); });
  Bytes wanted;
  wanted.U({0x314341532D5042, 0, 1, 1, 0, 0, 4}).F({1, 3, 2, 4});
  EXPECT_EQ(policy.substr(0, wanted.text.size()), wanted.text);
  sac::Trainer<float> other{sac::Net({1, 1, {}, {}}), {}, sac::Temperature(1, true, -1), on_policy::OnOneThread(), ""};
  EXPECT_EQ(Refusal(policy, [&](const bp::Reader& reader) { sac::ReadPolicy(reader, &other); }), "");
  EXPECT_EQ(Written([&](const bp::Writer& writer) { sac::WritePolicy(writer, other); }), policy);
}

// An observation, an action, no hidden layers: 2 numbers of the actor, 6 of the critics.
TEST(SavedTd3, IsReadAndHeldToItsShape) {
  td3::Trainer<float> trainer(td3::Net({1, 1, {}, {}}), {}, on_policy::OnOneThread(), "");
  const auto state = [](float actor, float critic) {
    Bytes b;
    b.U({0x314433542D5042, 0, 1, 1, 0, 0});
    b.U({2}).F({1, 2}).U({2}).F({0, .5f}).U({2}).F({1, 1}).U({7});
    b.U({6}).F({1, 2, 3, 4, 5, 6}).U({6}).F({0, 0, 0, 0, 0, .5f}).U({6}).F({1, 1, 1, 1, 1, 1}).U({7});
    return b.U({2}).F({1, actor}).U({6}).F({1, 2, 3, 4, 5, critic}).U({9}).text;
  };
  const auto read = [&](const bp::Reader& reader) { td3::ReadTrainer(reader, &trainer); };
  CheckBytes(state(8, 6), 7, read, [&](const bp::Writer& writer) { td3::WriteTrainer(writer, trainer); });
  EXPECT_EQ(trainer.actor_target()[1], 8);
  EXPECT_EQ(trainer.targets()[5], 6);
  EXPECT_EQ(trainer.updates(), 9u);
  // A policy has no target actor, so it is read as a copy.
  const std::string policy = Written([&](const bp::Writer& writer) { td3::WritePolicy(writer, trainer); });
  EXPECT_EQ(Refusal(policy, [&](const bp::Reader& reader) { td3::ReadPolicy(reader, &trainer); }), "");
  EXPECT_EQ(trainer.actor_target(), (std::vector<float>{1, 2}));
  EXPECT_THAT(Refusal(state(static_cast<float>(kNaN), 6), read), HasSubstr("the actor's target network: expected finite"));
  EXPECT_THAT(Refusal(state(8, static_cast<float>(kNaN)), read), HasSubstr("target networks: expected finite"));
}

// An observation, two choices and a value of the observation, no hidden layers: 6 numbers.
class SavedDqn : public testing::Test {
 protected:
  static std::string State(float target = 6) {
    Bytes b;
    b.U({0x314E51442D5042, 2, 1, 2, 0});
    b.U({6}).F({1, 2, 3, 4, 5, 6}).U({6}).F({0, 0, 0, 0, 0, .5f}).U({6}).F({1, 1, 1, 1, 1, 1}).U({7});
    return b.U({6}).F({1, 2, 3, 4, 5, target}).U({9}).text;
  }
  static dqn::Trainer<float> Made() {
    return {dqn::Net({.obs = 1, .choices = 2, .hidden = {}, .dueling = true}), {}, on_policy::OnOneThread(), ""};
  }
  dqn::Trainer<float> trainer_ = Made();
};

TEST_F(SavedDqn, IsReadAndHeldToItsShape) {
  const auto read = [&](const bp::Reader& reader) { dqn::ReadTrainer(reader, &trainer_); };
  CheckBytes(State(), 6, read, [&](const bp::Writer& writer) { dqn::WriteTrainer(writer, trainer_); });
  EXPECT_EQ(trainer_.target()[5], 6);
  EXPECT_EQ(trainer_.updates(), 9u);
  EXPECT_THAT(Refusal(State(static_cast<float>(kNaN)), read), HasSubstr("target network: expected finite"));
}

// The policy's head is written as a layer of the choices, then one of the value: weights [in, choices], biases [choices].
TEST_F(SavedDqn, PolicyHasTheChoicesApart) {
  ASSERT_EQ(Refusal(State(), [&](const bp::Reader& reader) { dqn::ReadTrainer(reader, &trainer_); }), "");
  const std::string policy = Written([&](const bp::Writer& writer) { dqn::WritePolicy(writer, trainer_); });
  Bytes wanted;
  wanted.U({0x314E51442D5042, 2, 1, 2, 0, 6}).F({1, 2, 4, 5, 3, 6});
  EXPECT_EQ(policy.substr(0, wanted.text.size()), wanted.text);
  dqn::Trainer<float> other = Made();
  EXPECT_EQ(Refusal(policy, [&](const bp::Reader& reader) { dqn::ReadPolicy(reader, &other); }), "");
  EXPECT_EQ(Written([&](const bp::Writer& writer) { dqn::WritePolicy(writer, other); }), policy);
}

TEST(SavedEpsilon, HoldsNoImpossibleNumber) {
  const auto why = [](double frames, double done) {
    dqn::Epsilon epsilon(1, 0, 100, 1);
    return Refusal(Bytes().D({frames, done}).text, [&](const bp::Reader& reader) { epsilon.Load(reader); });
  };
  EXPECT_EQ(why(50, .5), "");
  EXPECT_THAT(why(kNaN, .5), HasSubstr("the frames over which epsilon falls"));
  EXPECT_THAT(why(50, -1), HasSubstr("epsilon's progress"));
}

TEST(SavedArs, IsReadAndHeldToItsShape) {
  const ars::StateShape shape{ars::StateShape::kNormalize | ars::StateShape::kAdam, 2, 1, {4}};
  std::vector<double> mean(2), m(2), v(2);
  ars::ObsFilter filter(2);
  ars::Counters counters{};
  const auto state = [](double weight, double count, uint64_t steps) {
    Bytes b;
    b.U({0x315352412D5042, 2 + 32, 2, 1, 1, 4}).U({2}).D({weight, -1});
    b.D({count}).U({2}).D({1, 2}).U({2}).D({3, 4}).U({21, 22});
    return b.U({2}).D({0, 0.5}).U({2}).D({1, 2}).U({steps}).text;
  };
  const auto read = [&](const bp::Reader& reader) { ars::ReadState(reader, shape, &mean, &m, &v, &filter, &counters); };
  CheckBytes(state(0.5, 9, 7), 7, read,
             [&](const bp::Writer& writer) { ars::WriteState(writer, shape, mean, m, v, filter, counters); });
  EXPECT_EQ(filter.squares(1), 4);
  EXPECT_EQ(counters.seed, 21u);
  EXPECT_EQ(counters.adam_steps, 7);
  EXPECT_THAT(Refusal(state(kNaN, 9, 7), read), HasSubstr("weights: expected finite"));
  EXPECT_THAT(Refusal(state(0.5, kNaN, 7), read), HasSubstr("a count of observations"));
  EXPECT_THAT(Refusal(state(0.5, 9, static_cast<uint64_t>(-1)), read), HasSubstr("a number of steps"));
}

TEST(SavedSeq2seq, IsReadAndHeldToItsShape) {
  seq2seq::BartConfig config;
  config.vocab_size = 3, config.d_model = 1, config.max_position_embeddings = 1;
  config.encoder_layers = config.decoder_layers = 0;
  const seq2seq::Layout layout(config);
  // Two tables of 3 positions and one of 3 words, two norms of weight and bias, and the untrained bias of 3 words.
  ASSERT_EQ(layout.parameters().size(), 8u);
  ASSERT_EQ(layout.size(), 16);
  std::vector<float> weights(16), m(13), v(13);
  uint64_t updates = 0;
  const auto state = [](float first, float second) {
    Bytes b;
    b.U({0x3151325342, 8, 3, 3, 3, 1, 1, 1, 1, 3, 16});
    for (int i = 0; i < 16; ++i) b.F({static_cast<float>(i)});
    b.U({13});
    for (int i = 0; i < 13; ++i) b.F({first});
    b.U({13});
    for (int i = 0; i < 13; ++i) b.F({second});
    return b.U({17}).text;
  };
  const auto read = [&](const bp::Reader& reader) {
    updates = seq2seq::ReadState(reader, layout, {weights.data(), m.data(), v.data()});
  };
  CheckBytes(state(-0.5, 0.25), 11, read, [&](const bp::Writer& writer) {
    seq2seq::WriteState(writer, layout, {weights.data(), m.data(), v.data()}, updates);
  });
  EXPECT_EQ(updates, 17u);
  EXPECT_EQ(weights[15], 15);
  EXPECT_THAT(Refusal(state(INFINITY, 1), read), HasSubstr("first moments of AdamW"));
  EXPECT_THAT(Refusal(state(0, -1), read), HasSubstr("second moments of AdamW: expected 0 or more, got -1"));
}

}  // namespace
}  // namespace backplane
