// An embedded env equals the host's own rollouts: every channel of every step, bit for bit, for any number of threads.
#include <algorithm>
#include <map>
#include <ostream>

#include "env.hpp"
#include "places.hpp"
#include "support/rollout_host.hpp"

namespace backplane::embed_test {
namespace {

using test_support::Host;
using test_support::kEnvSeed;
using test_support::Setting;

std::string FileOf(const std::string& name) { return std::string(BACKPLANE_PLUGIN_DIR) + "/env_" + name + ".so"; }

// Last observations of the rollout, by step * rows + row.
std::map<int64_t, std::string> FinalObs(Host& host) {
  const bp_delivery delivery = host.collector().Delivery();
  const bp_tensor *values = nullptr, *index = nullptr;
  for (uint64_t i = 0; i < delivery.n_tensors; ++i) {
    if (delivery.names[i] == std::string("final_obs")) values = delivery.tensors[i];
    if (delivery.names[i] == std::string("final_index")) index = delivery.tensors[i];
  }
  std::map<int64_t, std::string> out;
  for (int64_t e = 0; index && e < index->shape[0]; ++e) {
    const size_t bytes = static_cast<size_t>(values->shape[0] / index->shape[0] * values->strides[0]) * values->dtype.bits / 8;
    const auto* at = static_cast<const char*>(values->data) + e * static_cast<int64_t>(bytes);
    out[static_cast<const int64_t*>(index->data)[e]] = std::string(at, bytes);
  }
  return out;
}

struct Case {
  const char* env;
  uint64_t rows, steps;
  friend void PrintTo(const Case& one, std::ostream* out) { *out << one.env; }
};

class SameTest : public testing::TestWithParam<Case> {};

TEST_P(SameTest, AsTheHostsRollouts) {
  const auto [name, rows, steps] = GetParam();
  Host host({.file = FileOf(name), .rows = rows, .horizon = steps});
  host.Collect();
  const std::map<int64_t, std::string> last = FinalObs(host);
  ASSERT_FALSE(last.empty()) << "no episode has ended";
  for (const uint32_t threads : {1u, 2u, 5u}) {
    Env env(name, rows, nullptr, kEnvSeed, threads);
    env.Reset();
    const nlohmann::json channels = env.Spec().at("channels");
    for (uint64_t t = 0; t < steps; ++t) {
      for (const auto& channel : channels) {
        const std::string its_name = channel.at("name");
        ChannelBuffer* const of_host = host.collector().Buffer(its_name);
        if (of_host == nullptr || channel.at("by") == "host") continue;
        const uint64_t bytes = of_host->lead() * of_host->row_bytes();
        char* const place = static_cast<char*>(env.Tensor(its_name).data);
        if (channel.at("role") == "action") std::memcpy(place, of_host->row(t, 0), bytes);
        if (IsStateRole(of_host->role())) {
          ASSERT_EQ(std::memcmp(place, of_host->row(t, 0), bytes), 0) << its_name << ", step " << t << ", threads " << threads;
        }
      }
      // Alternates between one call and its two halves.
      if (t % 2 == 0) {
        env.Step();
      } else {
        ASSERT_EQ(bp_embed_step_send(env.handle), BP_OK);
        ASSERT_EQ(bp_embed_step_wait(env.handle), BP_OK);
      }
      for (const char* of_step : {"reward", "terminated", "truncated"}) {
        const ChannelBuffer& of_host = *host.collector().Buffer(of_step);
        const uint64_t bytes = of_host.lead() * of_host.row_bytes();
        ASSERT_EQ(std::memcmp(env.Tensor(of_step).data, of_host.place(t, 0), bytes), 0) << of_step << ", step " << t;
      }
      const uint64_t row_bytes = env.Bytes("final_obs").size() / rows;
      for (uint64_t r = 0; r < rows; ++r) {
        const auto ended = last.find(static_cast<int64_t>(t * rows + r));
        ASSERT_EQ(ended != last.end(), (env.Of<uint8_t>("terminated")(r) | env.Of<uint8_t>("truncated")(r)) != 0);
        if (ended != last.end()) {
          ASSERT_TRUE(env.Bytes("final_obs").substr(r * row_bytes, row_bytes) == ended->second)
              << "row " << r << ", step " << t;
        }
      }
    }
    for (const Episode& episode : host.collector().episodes()) {
      // The last observation of the row.
      const auto later = std::count_if(host.collector().episodes().begin(), host.collector().episodes().end(),
                                       [&](const Episode& e) { return e.row == episode.row && e.t > episode.t; });
      if (later > 0) continue;
      EXPECT_EQ(env.Of<double>("ep_return")(episode.row), episode.episode_return);
      EXPECT_EQ(env.Of<int64_t>("ep_length")(episode.row), episode.length);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, SameTest,
                         testing::Values(Case{"cartpole", 64, 120}, Case{"mountain_car_continuous", 3, 1010},
                                         Case{"pendulum", 5, 410}, Case{"uav_grid", 4, 250}
#if defined(HAS_MUJOCO)
                                         ,
                                         Case{"ant", 8, 120}, Case{"humanoid", 4, 60}
#endif
                                         ),
                         [](const auto& info) { return std::string(info.param.env); });

}  // namespace
}  // namespace backplane::embed_test
