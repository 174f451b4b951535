// Channels through typed handles, and by role and name.
#include "backplane/channels.hpp"

#include <gmock/gmock.h>

#include <concepts>

#include "backplane/env_slot.hpp"

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <class Held, class Wanted>
concept Gives = requires(const bp::Slot& slot, bp::Handle<Held> channel) {
  { slot.Row(channel, 0) } -> std::convertible_to<std::span<Wanted>>;
  { slot.Rows(channel)[0] } -> std::convertible_to<std::span<Wanted>>;
};
static_assert(Gives<uint8_t, uint8_t> && Gives<const int32_t, const int32_t> && Gives<float, const float>);
static_assert(!Gives<uint8_t, float> && !Gives<uint8_t, int8_t> && !Gives<float, double> && !Gives<float, int32_t>);
static_assert(!Gives<const int32_t, int32_t>, "an env does not write its action");
static_assert(!std::convertible_to<bp::Handle<float>, bp::Handle<uint8_t>> && !std::constructible_from<bp::Handle<float>, int>);

template <class Index>
concept TakesAnIndex = requires(const bp::Slot& slot, Index channel) {
  slot.Row(channel, 0);
};
static_assert(!TakesAnIndex<int> && !TakesAnIndex<size_t> && TakesAnIndex<bp::Handle<float>>);

template <class Function>
std::string SentenceOf(Function&& function) {
  try {
    function();
  } catch (const bp::Error& e) {
    return e.what();
  }
  return "none";
}

// Two rows of two channels, bound to memory of the test.
class HandlesTest : public ::testing::Test {
 protected:
  static bp::ChannelView View(const bp::Channel& channel, void* data, uint64_t stride_bytes, uint64_t elements) {
    return {&channel, bp::detail::HandleKey(channel), data ? static_cast<char*>(data) : nullptr, stride_bytes, elements};
  }
  bp::Slot Bound() {
    views_ = {View(spec_.channels[0], obs_numbers_, 3 * sizeof(float), 2), View(spec_.channels[1], flags_, 1, 1),
              bp::detail::AbsentView(spec_.channels[2])};
    return {views_.data(), views_.size(), 5};
  }

  bp::EnvSpec spec_;
  bp::Handle<float> obs_ = spec_.Add<float>({.role = BP_ROLE_OBS, .name = "obs", .shape = {2}});
  bp::Handle<uint8_t> flag_ = spec_.Add<uint8_t>({.role = BP_ROLE_TERMINATED, .name = "terminated"});
  bp::Handle<float> info_ = spec_.Add<float>({.role = BP_ROLE_INFO, .name = "ep/speed"});
  float obs_numbers_[6] = {1, 2, 0, 3, 4, 0};  // rows are strided
  uint8_t flags_[2] = {0, 1};
  std::vector<bp::ChannelView> views_;
};

TEST_F(HandlesTest, GiveTheNumbersOfARow) {
  const bp::Slot slot = Bound();
  EXPECT_THAT(slot.Row(obs_, 1), ElementsAre(3, 4));
  slot.Row(flag_, 0)[0] = 9;
  EXPECT_THAT(flags_, ElementsAre(9, 1));
  EXPECT_TRUE(slot.Has(obs_));
  EXPECT_FALSE(slot.Has(info_));
}

TEST_F(HandlesTest, DecideTheTypeOfTheirChannel) { EXPECT_TRUE(bp::SameDtype(spec_.channels[1].dtype, bp::kU8)); }

TEST_F(HandlesTest, FromADifferentSpecAreRejected) {
  const bp::Slot slot = Bound();
  bp::EnvSpec other;
  const auto named_otherwise = other.Add<float>({.role = BP_ROLE_OBS, .name = "position", .shape = {2}});
  other.Obs(2).Reward().Terminated();
  const auto shaped_otherwise = bp::EnvSpec().Obs(3).Get<float>(BP_ROLE_OBS);
  const auto beyond = other.Get<uint8_t>(BP_ROLE_TERMINATED);
  EXPECT_THAT(SentenceOf([&] { slot.Row(named_otherwise, 0); }),
              HasSubstr("the handle of a channel comes from a different spec: channel 0 of this one is 'obs'"));
  EXPECT_THAT(SentenceOf([&] { slot.Rows(shaped_otherwise); }),
              HasSubstr("the handle of a channel comes from a different spec"));
  EXPECT_THAT(SentenceOf([&] { (void)slot.Has(beyond); }), HasSubstr("channel 3 of this one is none"));
  EXPECT_THAT(SentenceOf([&] { slot.Row(bp::Handle<float>(), 0); }),
              HasSubstr("the handle of a channel does not come from a spec"));
  EXPECT_THAT(obs_numbers_, ElementsAre(1, 2, 0, 3, 4, 0));
}

TEST_F(HandlesTest, RejectsMissingBuffers) {
  EXPECT_THAT(SentenceOf([&] { Bound().Row(info_, 0); }), HasSubstr("channel 'ep/speed' has no buffer in slot 5"));
}

TEST_F(HandlesTest, AreNotGivenToMissingChannels) {
  EXPECT_THAT(SentenceOf([&] { spec_.Get<float>(BP_ROLE_STATE); }), HasSubstr("no channel of role STATE"));
  EXPECT_THAT(SentenceOf([&] { spec_.Get<float>("speed"); }), HasSubstr("no channel 'speed'"));
  EXPECT_THAT(SentenceOf([&] { spec_.Get<int8_t>("terminated"); }),
              HasSubstr("'terminated' has numbers of type uint8, but its handle is of int8"));
}

TEST_F(HandlesTest, ToInputsOfAnEnvAreConst) {
  EXPECT_THAT(SentenceOf([&] { spec_.Add<float>({.role = BP_ROLE_ACTION, .name = "action"}); }),
              HasSubstr("an env only reads its ACTION"));
  EXPECT_THAT(SentenceOf([&] { spec_.Get<const float>("obs"); }), HasSubstr("'obs': an env writes it"));
  EXPECT_EQ(spec_.channels.size(), 3u);
}

// Read as a learner and the host do: in strides of the first element's struct_size.
class FindChannelTest : public ::testing::Test {
 protected:
  struct Newer {
    bp_channel channel;
    uint64_t more = ~uint64_t{0};
  };
  static Newer Of(uint16_t role, const char* name) {
    Newer newer{};
    newer.channel.struct_size = sizeof(Newer), newer.channel.role = role, newer.channel.name = name;
    return newer;
  }
  Newer channels_[4] = {Of(BP_ROLE_OBS, "obs"), Of(BP_ROLE_STATE, "state"), Of(BP_ROLE_STATE, "map"), Of(BP_ROLE_INFO, "x")};
  bp_env_spec env_{sizeof(bp_env_spec), 1, &channels_[0].channel, 4, 0, {}};
};

TEST_F(FindChannelTest, AnswersWithTheFirstOrWithNull) {
  EXPECT_STREQ(bp::FindChannel(env_, BP_ROLE_STATE)->name, "state");
  EXPECT_EQ(bp::FindChannel(env_, "map"), &channels_[2].channel);
  EXPECT_EQ(bp::FindChannel(env_, BP_ROLE_REWARD), nullptr);
  EXPECT_EQ(bp::FindChannel(env_, "ma"), nullptr);
}

TEST_F(FindChannelTest, RejectsSeveralForReadersOfOne) {
  EXPECT_STREQ(bp::FindOnlyChannel(env_, BP_ROLE_OBS)->name, "obs");
  EXPECT_EQ(bp::FindOnlyChannel(env_, BP_ROLE_REWARD), nullptr);
  EXPECT_EQ(SentenceOf([&] { bp::FindOnlyChannel(env_, BP_ROLE_STATE); }),
            "needs one STATE channel, the env has 'state' and 'map'");
  EXPECT_EQ(SentenceOf([&] { bp::NeedChannel(env_, BP_ROLE_ACTION_MASK); }), "needs one ACTION_MASK channel, the env has none");
  EXPECT_STREQ(bp::NeedChannel(env_, BP_ROLE_OBS).name, "obs");
}

}  // namespace
