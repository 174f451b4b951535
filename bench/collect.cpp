// Cost of the host around an env, on one thread, in CPU time.
//
//   bench_collect null PATH/env_null.so   null env, 64 rows, actions prefilled, autoreset and statistics on
//   bench_collect ant PATH/env_ant.so     Ant against a bare MuJoCo loop over the same states and controls, in turn
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "prefilled.hpp"

namespace backplane::bench {
namespace {

constexpr uint64_t kRows = 64;
constexpr int kPairs = 7;

double Median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

int Null(const std::string& file) {
  constexpr uint64_t kHorizon = 2000;
  Host host(file, "env.null", nlohmann::json{{"max_episode_steps", 100}}, kRows, 64);
  host.Collect(kHorizon);
  std::vector<double> us;
  size_t episodes = 0;
  for (int i = 0; i < kPairs; ++i) {
    us.push_back(host.Collect(kHorizon) * 1e6 / (kRows * kHorizon));
    episodes += host.collector->episodes().size();
  }
  std::printf("{\"null_us_per_env_step\": %.4f, \"min\": %.4f, \"rows\": %lu, \"episodes\": %zu}\n", Median(us),
              *std::min_element(us.begin(), us.end()), kRows, episodes);
  return 0;
}

#ifdef HAS_ANT
int Ant(const std::string& file) {
  constexpr uint64_t kHorizon = 150;
  const nlohmann::json options = {
      {"xml_path", ""}, {"main_body", "torso"}, {"frame_skip", 5}, {"max_episode_steps", 1000}, {"forward_reward_weight", 1.0},
      {"ctrl_cost_weight", 0.5}, {"contact_cost_weight", 5e-4}, {"healthy_reward", 1.0}, {"terminate_when_unhealthy", true},
      {"healthy_z_min", 0.2}, {"healthy_z_max", 1.0}, {"contact_force_min", -1.0}, {"contact_force_max", 1.0},
      {"reset_noise_scale", 0.1}, {"exclude_current_positions_from_observation", true}, {"include_cfrc_ext_in_observation", true}};
  std::vector<double> ratios, host_us, raw_us;
  for (int i = 0; i < kPairs; ++i) {
    // A new instance starts the same episodes again.
    Host host(file, "env.ant", options, kRows, 16);
    host.collector->Prepare(kHorizon);
    host.FillActions(kHorizon, 8);
    const double a = host.Collect(kHorizon);
    std::vector<double> heights;
    const double b = AntRaw(host, options, kHorizon, &heights);
    for (uint64_t r = 0; r < kRows; ++r) {
      const float seen = *host.collector->Buffer("obs")->at<float>(kHorizon, r);
      if (seen != static_cast<float>(heights[r])) {
        std::fprintf(stderr, "row %lu: the two loops differ: height %.9g and %.9g\n", r, seen, heights[r]);
        return 1;
      }
    }
    ratios.push_back(b / a);
    host_us.push_back(a * 1e6 / (kRows * kHorizon));
    raw_us.push_back(b * 1e6 / (kRows * kHorizon));
  }
  std::printf("{\"ant_E_env\": %.4f, \"min\": %.4f, \"max\": %.4f, \"host_us\": %.2f, \"raw_us\": %.2f, \"pairs\": %d}\n", Median(ratios),
              *std::min_element(ratios.begin(), ratios.end()), *std::max_element(ratios.begin(), ratios.end()), Median(host_us),
              Median(raw_us), kPairs);
  return 0;
}
#endif

}  // namespace
}  // namespace backplane::bench

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "null") == 0) return backplane::bench::Null(argv[2]);
#ifdef HAS_ANT
  if (argc == 3 && std::strcmp(argv[1], "ant") == 0) return backplane::bench::Ant(argv[2]);
#endif
  std::fprintf(stderr, "usage: bench_collect null|ant PLUGIN.so\n");
  return 2;
}
