#include "plan.hpp"

#include <unistd.h>

#include <fstream>
#include <stdexcept>
#include <vector>

#include "measure.hpp"
#include "plugin/catalog.hpp"
#include "sweep/plan.hpp"

namespace backplane::bench {
namespace {

constexpr const char* kExperiment = R"(
experiment: bench_plan
env: {plugin: ant, options: {include_cfrc_ext_in_observation: false}}
learner:
  plugin: ppo
  options:
    {minibatch_size: 256, num_epochs: 10, hidden: [128, 128], log_std_init: -1.0, normalize_obs: true, normalize_rewards: true}
rollout: {num_env_runners: 2, num_envs_per_env_runner: 16}
budget: {env_steps: 3000000}
evaluation: {every_iterations: 100, episodes: 10}
checkpoint: {every_iterations: 50}
sweep:
  grid:
    learner.options.lr: {range: [1.0e-4, 2.5e-3, 1.0e-4]}
    learner.options.train_batch_size: {range: [512, 10240, 512]}
    rollout.num_envs_per_env_runner: {range: [1, 20, 1]}
)";

class TemporaryFile {
 public:
  explicit TemporaryFile(const char* text)
      : path_(std::filesystem::temp_directory_path() / ("bench_plan_" + std::to_string(getpid()) + ".yaml")) {
    std::ofstream(path_) << text;
  }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace

nlohmann::json RunPlan(const std::filesystem::path& plugin_folder, uint64_t times) {
  const TemporaryFile file(kExperiment);
  std::vector<double> wall_ms, cpu_ms, others;
  size_t points = 0;
  for (uint64_t i = 0; i < times; ++i) {
    Catalog catalog;
    catalog.AddFolder(plugin_folder);
    PlanOptions options;
    options.lookup = [&](uint32_t kind, const std::string& name, const std::vector<std::filesystem::path>&,
                         std::string* why_not) { return catalog.Find(kind, name, why_not); };
    PlanResult result;
    const Cost cost = Measure([&] { result = MakePlan(file.path(), options); });
    if (!result.plan) throw std::runtime_error(Format(result.errors.at(0)));
    points = result.plan->points.size();
    wall_ms.push_back(cost.wall_s * 1e3);
    cpu_ms.push_back(cost.cpu_s * 1e3);
    others.push_back(cost.others);
  }
  return {{"points", points}, {"wall_ms", Spread(wall_ms)}, {"cpu_ms", Spread(cpu_ms)}, {"others", Spread(others)}};
}

}  // namespace backplane::bench
