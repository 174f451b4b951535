#include "study/bench_file.hpp"

#include <fmt/format.h>

#include "base/format_count.hpp"
#include "base/json_path.hpp"
#include "machine/resource_measures.hpp"
#include "record/list_sweep.hpp"
#include "yaml/recommended_file.hpp"
#include "yaml/yaml_text.hpp"

namespace backplane {
namespace {

using nlohmann::json;

// Both appear in the first line of a bench's file and identify it.
constexpr char kBenchTitle[] = "# Speed of ", kMadeByBench[] = "made by `bench`";

json BenchColumns(bool has_gpu) {
  json columns = json::array();
  const auto add = [&](const char* measure, const char* title, const char* unit, const char* direction) {
    json column = {{"measure", measure}, {"title", title}};
    if (*unit) column["unit"] = unit;
    if (*direction) column["direction"] = direction;
    columns.push_back(column);
  };
  add("SPS", "steps/s", "1/s", "up");
  add(resource_measure::kCpuQuotaPct, "CPU use", "%", "up");
  if (has_gpu) {
    add(resource_measure::kGpuUtilPct, "GPU use", "%", "up");
    add("vram_peak_mb", "GPU memory", "MB", "down");
    add(resource_measure::kGpuPowerW, "GPU power", "W", "");
  }
  add("rss_peak_mb", "memory", "MB", "down");
  add("time/environment_pct", "envs", "%", "");
  add("time/action_selection_pct", "acting", "%", "");
  add("time/update_pct", "update", "%", "");
  add("time/transfer_pct", "transfer", "%", "");
  add("time/idle_pct", "idle", "%", "down");
  add("iterations", "iterations", "", "");
  return columns;
}

}  // namespace

json SpeedExperiment(const Experiment& experiment, const BenchPlan& plan, bool has_gpu) {
  Experiment bench = experiment;
  bench.preset.reset();  // its values are included, or form a setting
  bench.budget = {};
  bench.budget.wall_time_s = plan.seconds;
  bench.evaluation.episodes = 0;
  bench.evaluation.at_start = false;
  bench.evaluation.every_iterations = 0;
  bench.checkpoint = {};
  bench.resources.exclusive = true;
  bench.live.clear();
  bench.output_dir = plan.out;  // if run by hand, it must not resume in the experiment's own results
  bench.report_dir.reset();
  bench.progress_file.reset();
  bench.report = {};
  bench.report.kind = "comparison";
  bench.report.name = kBenchReport;
  bench.report.timing = true;
  if (plan.points.size() > 1) bench.report.baseline = plan.points.front().name;
  bench.report.columns = BenchColumns(has_gpu);
  // Without `select`: its file would inherit this budget of seconds and no evaluations. BestFile writes its own.
  json file = ToJson(bench);
  ListSweep sweep;
  for (const BenchPoint& point : plan.points) sweep.Add(point.name, point.values);
  if (plan.seeds > 1) sweep.seeds = SweepSeeds{plan.seeds, experiment.seed};
  Overwrite(SweepSection{sweep}, &file);
  return file;
}

std::string BenchFile(const Experiment& experiment, const BenchPlan& plan, bool has_gpu) {
  Experiment bench = experiment;
  bench.name = kBenchPrefix + experiment.name;
  return fmt::format("{}{}, {:g} s per trial; {}. `run --fresh` measures again.\n", kBenchTitle, experiment.name, plan.seconds,
                     kMadeByBench) +
         YamlText(SpeedExperiment(bench, plan, has_gpu), {});
}

bool IsBenchFile(const std::string& text) {
  return text.starts_with(kBenchTitle) && text.substr(0, text.find('\n')).find(kMadeByBench) != std::string::npos;
}

std::string BestFile(const Experiment& experiment, const BenchPoint& point, double speed) {
  json config = ToJson(experiment);
  for (const auto& [path, value] : point.values) SetAtPath(&config, path, value);
  return RecommendedFile(
      config, "_best",
      {fmt::format("the fastest setting of {} in a bench: {}, {} steps/s", experiment.name, point.name,
                   FormatCount(static_cast<uint64_t>(speed))),
       "Sweep and stages are left out; if the experiment has stages, these are the values of its first stage."});
}

std::string PresetFile(const Experiment& experiment, const BenchPoint& point, double speed, const DeviceInfo* gpu) {
  constexpr uint64_t kMiB = uint64_t{1} << 20;
  json device = {{"gpu", gpu ? gpu->name : "none"}}, of_learner = json::object();
  if (gpu) SetAtPath(&device, "memory", fmt::format("{}MiB", gpu->memory_bytes / kMiB));
  for (const auto& [path, value] : point.values) SetAtPath(&of_learner, path, value);
  const json preset = {{"device", device}, {"for_learner", {{experiment.learner.plugin, of_learner}}}};
  return fmt::format(
             "# The fastest setting of `bench --autotune` with {}: {}, {} steps/s. Numbers of envs and chunks change the "
             "results of some learners.\n",
             experiment.name, point.name, FormatCount(static_cast<uint64_t>(speed))) +
         YamlText(preset, {});
}

}  // namespace backplane
