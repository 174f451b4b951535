#include <map>

#include "ant.hpp"
#include "prefilled.hpp"

namespace backplane::bench {

double AntRaw(Host& host, const nlohmann::json& options, uint64_t horizon, std::vector<double>* heights) {
  const uint64_t rows = host.env->rows();
  const OptionView view(options, {}, "env.options");
  const ant::World world{bp::Config(view.get())};
  std::vector<ant::Ant> ants;
  std::vector<bp::Rng> rngs(rows);
  std::vector<uint64_t> episode(rows, 0);
  std::vector<float> obs(static_cast<size_t>(ant::Ant::Spec(world).channels[0].shape[0]));
  const auto start = [&](uint64_t r) {
    rngs[r] = bp::Rng{bp_seed(1, BP_PURPOSE_ENV_EPISODE, static_cast<uint32_t>(r), episode[r]++)};
    ants[r].Reset(world, rngs[r], obs.data());
  };
  ants.reserve(rows);
  for (uint64_t r = 0; r < rows; ++r) ants.emplace_back(world), start(r);
  std::map<std::pair<uint64_t, uint64_t>, bool> ends;
  for (const Episode& e : host.collector->episodes()) ends[{e.t, e.row}] = true;

  const double before = ThreadCpuSeconds();
  for (uint64_t c = 0; c < rows; c += 16)
    for (uint64_t t = 0; t < horizon; ++t)
      for (uint64_t r = c; r < std::min(c + 16, rows); ++r) {
        auto& data = const_cast<mjData&>(ants[r].data());
        const float* action = host.collector->Buffer("action")->at<float>(t, r);
        for (int i = 0; i < world.model()->nu; ++i) data.ctrl[i] = action[i];
        for (int k = 0; k < 5; ++k) mj_step(world.model(), &data);
        if (ends.count({t, r})) start(r);
      }
  const double seconds = ThreadCpuSeconds() - before;
  heights->clear();
  for (const ant::Ant& a : ants) heights->push_back(a.data().qpos[2]);
  return seconds;
}

}  // namespace backplane::bench
