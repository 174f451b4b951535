// Actions and observations of every kind: what acting draws, which envs and options are rejected, and which states are loaded.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "driven_learner.hpp"
#include "net_fixture.hpp"

namespace backplane::ppo {
namespace {

using net_fixture::RandomBatch;
using net_fixture::SeveralActions;
using net_fixture::WithImages;
using test_support::Buffer;
using test_support::DrivenLearner;
using ::testing::HasSubstr;

constexpr int64_t kThree = 3, kFive = 5, kChoices[] = {3, 2, 4}, kNine = 9, kTen = 10, kImage[] = {2, 36, 40},
                  kSmall[] = {2, 30, 30};
constexpr bp_dtype kF32 = bp::DtypeOf<float>(), kI32 = bp::DtypeOf<int32_t>(), kU8 = bp::DtypeOf<uint8_t>();

bp_channel Channel(uint16_t role, uint16_t space, bp_dtype type, const char* name, const int64_t* shape, uint16_t ndim = 1) {
  return {sizeof(bp_channel), role, space, BP_SCOPE_ROW, ndim, type, name, shape};
}
const bp_channel kObs = Channel(BP_ROLE_OBS, BP_SPACE_BOX, kF32, "obs", &kFive),
                 kPicture = Channel(BP_ROLE_OBS, BP_SPACE_BOX, kU8, "picture", kImage, 3),
                 kSmallPicture = Channel(BP_ROLE_OBS, BP_SPACE_BOX, kU8, "small", kSmall, 3),
                 kReward = Channel(BP_ROLE_REWARD, BP_SPACE_BOX, kF32, "reward", nullptr, 0),
                 kNumbers = Channel(BP_ROLE_ACTION, BP_SPACE_BOX, kF32, "action/numbers", &kThree),
                 kBitsOf = Channel(BP_ROLE_ACTION, BP_SPACE_MULTI_BINARY, kU8, "action/bits", &kThree),
                 kWideBits = Channel(BP_ROLE_ACTION, BP_SPACE_MULTI_BINARY, kI32, "action/wide", &kThree);
bp_channel Choices() {
  bp_channel c = Channel(BP_ROLE_ACTION, BP_SPACE_MULTI_DISCRETE, kI32, "action", &kThree);
  c.nvec = kChoices;
  return c;
}
bp_channel Mask(const int64_t* flags) { return Channel(BP_ROLE_ACTION_MASK, BP_SPACE_MULTI_BINARY, kU8, "action_mask", flags); }

class Trial : public DrivenLearner {
 public:
  explicit Trial(std::vector<bp_channel> channels, std::map<std::string, std::string> options = {})
      : DrivenLearner(std::move(options)) {
    channels.push_back(kReward);
    Create({sizeof(bp_env_spec), 1, channels.data(), channels.size(), 50, {BP_DEVICE_CPU, 0}}, 4);
  }
};

TEST(PpoSpaces, AcceptsEveryKindOfActionAndObservation) {
  EXPECT_EQ(Trial({kObs, Choices()}).status(), BP_OK);
  EXPECT_EQ(Trial({kObs, Choices(), Mask(&kNine)}).status(), BP_OK);
  EXPECT_EQ(Trial({kPicture, Choices(), kNumbers, kBitsOf, Mask(&kNine)}).status(), BP_OK);
  EXPECT_EQ(Trial({kObs, kPicture, kSmallPicture, kBitsOf}, {{"normalize_obs", "true"}}).status(), BP_OK);
}

TEST(PpoSpaces, RejectsWithTheMissingCapability) {
  const auto why = [](std::vector<bp_channel> channels, std::map<std::string, std::string> options = {}) {
    const Trial trial(std::move(channels), std::move(options));
    EXPECT_EQ(trial.status(), BP_E_UNSUPPORTED);
    return trial.error();
  };
  EXPECT_THAT(why({kObs, kWideBits}), HasSubstr("uint8 MULTI_BINARY, channel 'action/wide' is none of them"));
  EXPECT_THAT(why({kObs}), HasSubstr("needs an ACTION channel, the env has none"));
  EXPECT_THAT(why({kBitsOf}), HasSubstr("needs an OBS channel, the env has none"));
  EXPECT_THAT(why({kObs, Choices(), Mask(&kTen)}), HasSubstr("one mask flag per choice, 9 in total, got 10"));
  EXPECT_THAT(why({kObs, Choices(), kNumbers}, {{"use_sde", "true"}}), HasSubstr("use_sde: expected one channel"));
  EXPECT_THAT(why({kObs, kBitsOf}, {{"use_sde", "true"}}), HasSubstr("got discrete ones"));
  EXPECT_THAT(why({kSmallPicture, kBitsOf}, {{"image_net", "nature"}}),
              HasSubstr("image_net: nature: expected an OBS channel"));
  EXPECT_THAT(why({kPicture, kBitsOf}, {{"normalize_obs", "true"}}), HasSubstr("scaled by 1/255, got only images"));
  EXPECT_THAT(why({kPicture, kBitsOf}, {{"memory", R"({"kind": "gru"})"}}),
              HasSubstr("memory: expected observations without images"));
}

// Without the net for images, their pixels are numbers.
TEST(PpoSpaces, ImagesAreNumbersOnRequest) {
  const Trial trial({kPicture, Choices()}, {{"image_net", "none"}, {"hidden", "[4]"}, {"vf_hidden", "[]"}});
  EXPECT_EQ(trial.spec().n_params, (2 * 36 * 40 + 1) * 4 * 2 + (4 + 1) * 9 + (4 + 1));
}

TEST(PpoSpaces, LoadsOnlyStatesOfItsSpaces) {
  Trial one({kObs, kPicture, Choices(), kBitsOf}), same({kObs, kPicture, Choices(), kBitsOf}),
      other({kObs, kPicture, kBitsOf, Choices()});
  const std::string saved = one.Saved(), policy = one.SavedPolicy();
  EXPECT_EQ(same.Load(saved), BP_OK) << same.error();
  EXPECT_EQ(same.StartPolicy(policy), BP_OK) << same.error();
  EXPECT_EQ(same.Saved(), saved);
  EXPECT_EQ(other.Load(saved), BP_E_INVALID_ARG);
  EXPECT_THAT(other.error(), HasSubstr("kind of a distribution"));
  EXPECT_EQ(other.LoadPolicy(policy), BP_E_INVALID_ARG);
  Trial without({kObs, Choices(), kBitsOf});
  EXPECT_EQ(without.Load(saved), BP_E_INVALID_ARG);
  EXPECT_THAT(without.error(), HasSubstr("64 images"));
  EXPECT_THAT(one.PolicyForm(), HasSubstr(R"({"kind":"images","images":[{"channel":"picture","height":36,"width":40,)"
                                          R"("channels":2,"planar":true,"layers":[{"kernel":8,"stride":4,"in":128,"out":32,)"));
  EXPECT_THAT(without.PolicyForm(),
              HasSubstr(R"("head":{"kind":"several","parts":[{"action":"action","kind":"discrete","choices":[3,2,4]},)"
                        R"({"action":"action/bits","kind":"bits","count":3}]})"));
}

// The actor of SeveralActions with images, compared with the outputs of a separate pass.
class SeveralActing : public ::testing::Test {
 protected:
  static constexpr int64_t kRows = 3;
  SeveralActing() : net_(WithImages(SeveralActions())), batch_(net_, kRows, 5) {
    const bp_channel env[] = {kObs,
                              Channel(BP_ROLE_OBS, BP_SPACE_BOX, kU8, "a", kFirst, 3),
                              Channel(BP_ROLE_OBS, BP_SPACE_BOX, kU8, "b", kSecond, 3),
                              Channel(BP_ROLE_ACTION, BP_SPACE_BOX, kF32, "action", &kTwo),
                              Discrete(&kThree),
                              Channel(BP_ROLE_ACTION, BP_SPACE_MULTI_BINARY, kU8, "bits", &kTwo),
                              Discrete(&kTwo),
                              Channel(BP_ROLE_ACTION, BP_SPACE_BOX, kF32, "last", &kOne),
                              kReward};
    const bp_env_spec spec{sizeof(bp_env_spec), 1, env, std::size(env), 50, {BP_DEVICE_CPU, 0}};
    actor_ = std::make_unique<Actor>(net_, EnvShape(&spec), kRows, nullptr, 1);
    actor_->Refresh(batch_.params.data());
    std::copy(batch_.obs.begin(), batch_.obs.end(), obs_.data.begin());
    a_.data = batch_.pixels[0], b_.data = batch_.pixels[1];
    PackedNet<float> weights;
    weights.Pack(net_, batch_.params.data(), false);
    work_.Reserve(net_, kRows, false);
    for (size_t k = 0; k < 2; ++k)
      for (int64_t r = 0; r < kRows; ++r) work_.pixels[k][r] = batch_.Images()[k].At(r);
    Forward(net_, weights, batch_.params.data(), Inputs(net_, weights, batch_.params.data(), batch_.obs.data(), kRows, &work_),
            kRows, &work_);
  }
  static bp_channel Discrete(const int64_t* choices) {
    bp_channel c = Channel(BP_ROLE_ACTION, BP_SPACE_DISCRETE, kI32, "choice", nullptr, 0);
    c.nvec = choices;
    return c;
  }
  void Act(uint64_t step, uint32_t flags, int64_t begin = 0, int64_t end = kRows) {
    bp_tensor* in[] = {&obs_.tensor, &a_.tensor, &b_.tensor};
    bp_tensor* out[] = {&numbers_.tensor, &choice_.tensor, &bits_.tensor,  &other_.tensor,
                        &last_.tensor,    &logp_.tensor,   &value_.tensor, &raw_.tensor};
    actor_->Act({sizeof(bp_act), flags, static_cast<uint64_t>(begin), static_cast<uint64_t>(end), 0, 7, step, in, out});
  }
  const float* Head(int64_t row) const { return work_.actor.head.data() + row * net_.actions; }

  static constexpr int64_t kOne = 1, kTwo = 2, kFirst[] = {40, 36, 3}, kSecond[] = {2, 36, 44};
  Net net_;
  RandomBatch<float> batch_;
  std::unique_ptr<Actor> actor_;
  Workspace<float> work_;
  Buffer<float> obs_{{kRows, 5}}, numbers_{{kRows, 2}}, last_{{kRows, 1}}, raw_{{kRows, 3}}, logp_{{kRows}}, value_{{kRows}};
  Buffer<int32_t> choice_{{kRows}}, other_{{kRows}};
  Buffer<uint8_t> bits_{{kRows, 2}}, a_{{kRows, 40, 36, 3}}, b_{{kRows, 2, 36, 44}};
};

TEST_F(SeveralActing, GreedyActionsAreTheModes) {
  Act(0, BP_ACT_GREEDY);
  for (int64_t row = 0; row < kRows; ++row) {
    const float* head = Head(row);  // 2 means, 3 logits, 2 logits of bits, 2 logits, 1 mean
    EXPECT_EQ(numbers_.data[row * 2 + 1], head[1]);
    EXPECT_EQ(last_.data[row], head[9]);
    EXPECT_EQ(choice_.data[row], std::max_element(head + 2, head + 5) - (head + 2));
    EXPECT_EQ(other_.data[row], std::max_element(head + 7, head + 9) - (head + 7));
    for (int64_t k = 0; k < 2; ++k) EXPECT_EQ(bits_.data[row * 2 + k], head[5 + k] > 0);
    EXPECT_EQ(value_.data[row], work_.critic.head[row]);
  }
}

TEST_F(SeveralActing, DrawsFollowTheirDistributions) {
  constexpr int kDraws = 4000;
  double choices[3] = {}, bits[2] = {}, sum = 0, product = 0;
  for (uint64_t step = 0; step < kDraws; ++step) {
    Act(step, BP_ACT_EXPLORE);
    ++choices[choice_.data[0]];
    for (int k = 0; k < 2; ++k) bits[k] += bits_.data[k];
    sum += last_.data[0] - Head(0)[9];
    product += (last_.data[0] - Head(0)[9]) * (bits_.data[0] - .5);  // independent draws: no common random numbers
  }
  const float* head = Head(0);
  const double all = std::exp(head[2]) + std::exp(head[3]) + std::exp(head[4]);
  for (int k = 0; k < 3; ++k) EXPECT_NEAR(choices[k] / kDraws, std::exp(head[2 + k]) / all, .03) << k;
  for (int k = 0; k < 2; ++k) EXPECT_NEAR(bits[k] / kDraws, 1 / (1 + std::exp(-head[5 + k])), .03) << k;
  EXPECT_NEAR(sum / kDraws, 0, .05);
  EXPECT_NEAR(product / kDraws, 0, .05);
}

TEST_F(SeveralActing, ARowsResultDoesNotDependOnTheRange) {
  const auto results = [&] {
    return std::tuple(numbers_.data, choice_.data, bits_.data, other_.data, last_.data, logp_.data, value_.data);
  };
  Act(3, BP_ACT_EXPLORE);
  const auto together = results();
  for (int64_t row = 0; row < kRows; ++row) Act(3, BP_ACT_EXPLORE, row, row + 1);
  EXPECT_EQ(results(), together);
}

}  // namespace
}  // namespace backplane::ppo
