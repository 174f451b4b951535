// Advantages per agent: the reference's values, a plain recursion, and invariances.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agents.hpp"
#include "streams.hpp"

namespace backplane::mappo {
namespace {

using backplane::test_support::AgentEnv;
using backplane::test_support::AgentRollout;
using backplane::test_support::AgentShape;
using ::testing::FloatNear;
using ::testing::Pointwise;

struct Setting {
  double gamma = .99, lambda = .95, scale = 1;
};

std::vector<float> Advantages(AgentRollout& rollout, const std::vector<float>& value, float bootstrap, Setting setting = {}) {
  const AgentEnv env(rollout.shape);
  Streams streams(EnvShape(&env.spec), static_cast<uint64_t>(rollout.shape.rows), setting.gamma, setting.lambda, setting.scale);
  streams.Read(rollout.delivery());
  std::vector<float> out(value.size());
  // A bootstrap's value depends on its observation, so that a wrong choice shows.
  std::vector<float> next;
  for (const Streams::Bootstrap& b : streams.bootstraps())
    next.push_back(bootstrap + static_cast<float>(b.final + 1 + (b.final < 0 ? 7 * b.entry : 0)));
  streams.Advantages(value.data(), next.data(), out.data());
  return out;
}

// The first end is the agent's own, the second is a truncation of the row.
TEST(Streams, AgreesWithTheReferenceAtAnAgentsEndAndAtACut) {
  const AgentShape shape{.rows = 1, .agents = 1, .steps = 8};
  AgentRollout rollout(shape);
  rollout.Fill(1);
  const float r[] = {1, .5, -1, 2, 0, 1, .25, -.5};
  std::copy(std::begin(r), std::end(r), rollout.reward.data.begin());
  for (auto* flags : {&rollout.ended, &rollout.terminated, &rollout.truncated})
    std::fill(flags->data.begin(), flags->data.end(), 0);
  std::fill(rollout.alive.data.begin(), rollout.alive.data.end(), 1);
  rollout.ended.data[2] = 1, rollout.terminated.data[2] = 1, rollout.truncated.data[5] = 1;
  const AgentEnv env(shape);
  Streams streams(EnvShape(&env.spec), 1, .99, .95, 1);
  streams.Read(rollout.delivery());
  ASSERT_EQ(streams.bootstraps().size(), 2u);
  EXPECT_EQ(streams.bootstraps()[0].place, 5);
  const float value[] = {.1f, .2f, -.3f, .4f, .5f, -.6f, .7f, .8f}, next[] = {2.0f, .9f};
  std::vector<float> out(8);
  streams.Advantages(value, next, out.data());
  EXPECT_THAT(out, Pointwise(FloatNear(1e-6f), std::vector<float>{.481643325f, -.65535f, -.7f, 4.232747095f, 2.27299f, 3.58f,
                                                                  -.0426645f, -.409f}));
}

TEST(Streams, TreatsACutAsATerminationIfItMayNotBootstrap) {
  const AgentShape shape{.rows = 1, .agents = 2, .steps = 6};
  const AgentEnv env(shape);
  const auto advantages = [&](bool is_cut, bool bootstraps_cuts) {
    AgentRollout rollout(shape);
    rollout.Fill(1);
    for (auto* flags : {&rollout.ended, &rollout.terminated, &rollout.truncated})
      std::fill(flags->data.begin(), flags->data.end(), 0);
    std::fill(rollout.alive.data.begin(), rollout.alive.data.end(), 1);
    (is_cut ? rollout.truncated : rollout.terminated).data[3] = 1;
    Streams streams(EnvShape(&env.spec), 1, .99, .95, 1, bootstraps_cuts);
    streams.Read(rollout.delivery());
    std::vector<float> out(12), next(streams.bootstraps().size(), 5);
    streams.Advantages(std::vector<float>(12, 2).data(), next.data(), out.data());
    return out;
  };
  EXPECT_EQ(advantages(true, false), advantages(false, true));
  EXPECT_NE(advantages(true, true), advantages(false, true));
}

// Agent by agent, from the end: the textbook algorithm.
std::vector<float> PlainAdvantages(const AgentRollout& r, const std::vector<float>& value, float bootstrap, Setting s) {
  std::vector<float> out(value.size());
  for (int64_t agent = 0; agent < r.all; ++agent) {
    double next = 0;
    for (int64_t t = r.shape.steps - 1; t >= 0; --t) {
      const int64_t i = t * r.all + agent, row = agent / r.shape.agents;
      if (!r.alive.data[i]) {
        next = 0;
        continue;
      }
      const bool over = r.terminated.data[t * r.shape.rows + row] || r.ended.data[i],
                 cut = r.truncated.data[t * r.shape.rows + row];
      const bool alone = !over && !cut && r.cut_alone.data[i];
      double after = 0;
      if (!over && cut) {
        int64_t ends = 0;  // of all rows before this one
        for (int64_t e = 0; e < t * r.shape.rows + row; ++e) ends += r.terminated.data[e] || r.truncated.data[e];
        after = bootstrap + static_cast<double>(ends + 1);
      } else if (!over) {
        after = alone || t + 1 == r.shape.steps ? bootstrap + static_cast<double>(7 * (t + 1)) : value[i + r.all];
      }
      const double delta = s.scale * r.reward.data[i] + s.gamma * after - value[i];
      next = delta + (over || cut || alone ? 0 : s.gamma * s.lambda * next);
      out[i] = static_cast<float>(next);
    }
  }
  return out;
}

std::vector<float> SomeValues(int64_t n) {
  bp_rng rng{9, 0};
  std::vector<float> values(n);
  for (float& v : values) v = static_cast<float>(bp_rng_normal(&rng));
  return values;
}

TEST(Streams, AgreesWithAPlainRecursion) {
  for (uint64_t seed = 1; seed < 20; ++seed) {
    AgentRollout rollout({.rows = 4, .agents = 3, .steps = 40});
    rollout.Fill(seed);
    const std::vector<float> value = SomeValues(40 * 12);
    const Setting setting{.9, .8, .05};
    EXPECT_THAT(Advantages(rollout, value, 5, setting),
                Pointwise(FloatNear(1e-5f), PlainAdvantages(rollout, value, 5, setting)))
        << seed;
  }
}

TEST(Streams, BootstrapAnAgentThatIsTruncatedOnItsOwn) {
  for (uint64_t seed = 1; seed < 20; ++seed) {
    AgentRollout rollout({.rows = 4, .agents = 3, .steps = 40, .has_cut_alone = true});
    rollout.Fill(seed);
    const std::vector<float> value = SomeValues(40 * 12);
    EXPECT_THAT(Advantages(rollout, value, 5), Pointwise(FloatNear(1e-4f), PlainAdvantages(rollout, value, 5, {}))) << seed;
  }
}

// Without agent_ended, the end shows in ALIVE. It is ambiguous only if a row is cut.
TEST(Streams, AnAgentsEndShowsInAlive) {
  AgentShape shape{.rows = 4, .agents = 3, .steps = 40};
  AgentRollout rollout(shape);
  rollout.Fill(3);
  for (size_t i = 0; i < rollout.truncated.data.size(); ++i)
    for (int64_t a = 0; rollout.truncated.data[i] && a < 3; ++a) rollout.ended.data[i * 3 + a] = 0;
  shape.has_ended = false;
  AgentRollout without(shape);
  without.Fill(3);
  const std::vector<float> value = SomeValues(40 * 12);
  EXPECT_EQ(Advantages(without, value, 5), Advantages(rollout, value, 5));
}

TEST(Streams, WithoutBothEveryAgentLivesAsLongAsItsRow) {
  AgentRollout rollout({.rows = 2, .agents = 3, .steps = 9, .has_alive = false, .has_ended = false});
  rollout.Fill(4);
  std::fill(rollout.alive.data.begin(), rollout.alive.data.end(), 1);
  std::fill(rollout.ended.data.begin(), rollout.ended.data.end(), 0);
  const std::vector<float> value = SomeValues(9 * 6);
  EXPECT_THAT(Advantages(rollout, value, 5), Pointwise(FloatNear(1e-5f), PlainAdvantages(rollout, value, 5, {})));
}

TEST(Streams, ShufflingAgentsPermutesTheirAdvantages) {
  AgentRollout rollout({.rows = 2, .agents = 5, .steps = 15}), shuffled(rollout.shape);
  rollout.Fill(5), shuffled.Fill(5);
  std::vector<float> value = SomeValues(15 * 10), moved = value;
  const auto other = [](int64_t agent) { return agent / 5 * 5 + (agent % 5 * 2 + 1) % 5; };
  for (int64_t t = 0; t <= 15; ++t) {
    for (int64_t agent = 0; agent < 10; ++agent) {
      const int64_t from = t * 10 + agent, to = t * 10 + other(agent);
      shuffled.alive.data[to] = rollout.alive.data[from];
      if (t == 15) continue;
      shuffled.reward.data[to] = rollout.reward.data[from], shuffled.ended.data[to] = rollout.ended.data[from];
      moved[to] = value[from];
    }
  }
  const std::vector<float> a = Advantages(rollout, value, 5), b = Advantages(shuffled, moved, 5);
  for (int64_t i = 0; i < 150; ++i) EXPECT_EQ(a[i], b[i / 10 * 10 + other(i % 10)]) << i;
}

}  // namespace
}  // namespace backplane::mappo
