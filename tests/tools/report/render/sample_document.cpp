#include "sample_document.hpp"

#include <fmt/format.h>

#include <cmath>

#include "figures/panels.hpp"

namespace backplane {
namespace {

Number Over(double mean, double half_width, uint64_t n, const std::string& of) {
  return {.value = mean, .n = n, .of = of, .sd = half_width / 2, .low = mean - half_width, .high = mean + half_width};
}

Finding UpdateBound() {
  Finding finding;
  finding.id = "update_bound";
  finding.severity = Severity::kWarning;
  finding.title = "Learning takes 64.2 % of the time";
  finding.settings = {"1 x 1", "2 x 1"};
  finding.evidence = {{"phase/update", 64.2, 50, "%", "mean after the first iteration, 12 samples"}};
  finding.cause = "Each iteration passes over its batch many times in small pieces.";
  finding.fixes = {{"learner.options.num_epochs", 10, 5}, {"learner.options.minibatch_size", 128, 512}};
  finding.effect = "SPS rises; phase/update falls.";
  finding.moves = "phase/update";
  finding.direction = -1;
  finding.confidence = "high: the share is far above the threshold";
  return finding;
}

Finding CpuThrottled() {
  Finding finding;
  finding.id = "cpu_throttled";
  finding.severity = Severity::kSerious;
  finding.title = "The CPU quota stopped the trial in 38 % of its periods";
  finding.settings = {"num_env_runners=8 num_envs_per_env_runner=2", "num_env_runners=8 num_envs_per_env_runner=1"};
  finding.evidence = {{"resources/cpu_throttled", 38.1, 5, "%", "mean after the first iteration, 41 samples"},
                      {"resources/cpu_quota", 99.2, 90, "%", "mean after the first iteration, 41 samples"}};
  finding.cause =
      "More threads run than the control group grants cores, so all of them are stopped together until the next period.";
  finding.fixes = {{"rollout.threads", "auto", 2}};
  finding.effect = "Throttled periods fall below 5 %; SPS stays or rises.";
  finding.moves = "resources/cpu_throttled";
  finding.direction = -1;
  finding.confidence = "high: the kernel counted it";
  return finding;
}

Figure Speeds(const std::string& name, const std::string& alt, std::initializer_list<const char*> titles, size_t settings) {
  Figure figure{.name = name, .title = alt, .alt = alt, .columns = 2};
  std::vector<double> ticks;
  for (size_t i = 0; i < settings; ++i) ticks.push_back(std::pow(2.0, static_cast<double>(i) / 2));
  for (const char* title : titles) {
    for (const double x : ticks) {
      nlohmann::json row = {{"panel", title}, {"kind", "mean"}, {"name", "setting"}, {"series", "1 env per runner"},
                            {"trials", "a1"}, {"x", x}};
      PutNumber(Over(1000 * std::sqrt(x), 50 * std::sqrt(x), 3, "seeds"), 4, &row);
      figure.rows.push_back(std::move(row));
    }
    figure.panels.push_back(
        View(SweepPanel{{title, "parallelism", title, "setting"}, {}, ticks}, Palette("series", {"1 env per runner"})));
  }
  return figure;
}

Table Settings(size_t count) {
  Table table;
  table.id = "settings";
  table.title = "Settings";
  table.columns = {
      {"setting", "setting", "", "The point of the sweep.", 0, 4, true},
      {"parallelism", "parallelism", "", "Runners x environments per runner.", 0, 4, true},
      {"sps", "steps/s", "", "Environment steps per second, without the first iteration.", 1, 4, true},
      {"speedup", "speedup", "", "Steps/s over those of the baseline.", 1, 3, true},
      {"efficiency", "efficiency", "%", "100 x speedup / parallelism.", 1, 3, true},
      {"core_efficiency", "core efficiency", "%", "100 x speedup / min(runners, granted cores).", 1, 3, false},
      {"band", "band", "", "ideal, excellent, good or bottleneck.", 0, 4, true},
      {"wall_s", "time", "s", "Of the trial's loop, start and stop left out.", -1, 3, true},
      {"return", "return", "", "Mean over the last episodes of training.", 1, 4, true},
      {"rss_peak_mb", "memory", "MB", "Largest resident memory.", -1, 3, false},
      {"failure", "failure", "", "Why there is no number.", 0, 4, true},
  };
  for (size_t i = 0; i < count; ++i) {
    const double runners = std::pow(2.0, static_cast<double>(i / 2)), envs = 1 + static_cast<double>(i % 2);
    const std::string name = fmt::format("num_env_runners={} num_envs_per_env_runner={}", runners, envs);
    if (i % 7 == 5) {
      table.rows.push_back(
          {name,
           Reading(runners * envs),
           {},
           {},
           {},
           {},
           {},
           {},
           {},
           {},
           "2 of 3 seeds FAILED (oom): the process was killed at its memory limit of 4 GiB in phase update_backward"});
      continue;
    }
    const double speedup = std::pow(runners * envs, 0.7);
    table.rows.push_back({name,
                          Reading(runners * envs),
                          Over(1000.37 * speedup, 21.3 * speedup, 3, "seeds"),
                          Reading(speedup),
                          Reading(100 * speedup / runners / envs),
                          Reading(100 * speedup / runners),
                          "good",
                          Over(16.2 / speedup, 0.4, 3, "seeds"),
                          Over(-12.5 + 3 * speedup, 4.2, 57 + i, "episodes"),
                          Reading(312.4 + 10 * runners),
                          {}});
  }
  table.emphasised = {0, count - 1};
  table.notes = {"Marked: the baseline and the recommended settings."};
  return table;
}

}  // namespace

Document SmallDocument() {
  Document document;
  document.kind = "parallel_efficiency";
  document.name = "small";
  document.title = "Parallel efficiency of a small experiment";
  document.made_at = "2026-01-02 03:04 UTC";
  document.verdict = {"2 x 1 is the fastest: 1,950 steps/s.", "It uses 97.5 % of what its rows could give."};
  Table table;
  table.id = "settings";
  table.columns = {{"setting", "setting", "", "The point.", 0, 4, true},
                   {"sps", "steps/s", "", "Speed.", 1, 4, true},
                   {"memory", "memory", "MB", "Peak.", -1, 3, false},
                   {"why", "why", "", "Why there is none.", 0, 4, true}};
  table.rows = {{"1 x 1", Over(1000, 20, 3, "seeds"), Reading(300.26), {}},
                {"2 x 1", Over(1950, 31.5, 3, "seeds"), Reading(NAN), {}},
                {"4 | 1", {}, {}, "FAILED (oom), \"killed\""}};
  table.emphasised = {1};
  table.notes = {"Baseline: 1 x 1."};
  Diagnosis diagnosis{{UpdateBound()}, {{"gpu_idle", "no GPU was measured"}}};
  document.figures = {Speeds("speed", "Speed over parallelism", {"throughput"}, 2)};
  document.sections = {
      {"results", "Results", {table, FigureUse{"speed"}}},
      {"diagnosis", "Diagnosis", {FindingList{diagnosis}}},
      {"how",
       "How it was measured",
       {Paragraph{"Each setting ran three times."}, BulletList{{"one machine", "one build"}},
        FactList{{{"processor", "2 cores"}, {"kernel", "6.1"}}}, CommandList{{{"Again:", "backplane run small.yaml"}}},
        CodeBlock{"small.yaml", "yaml", "experiment: small\nseed: 0\n"}}},
  };
  document.main_table = "settings";
  document.attachments = {{"recommended_balanced.yaml", "base: small.yaml\n"}};
  return document;
}

Document LargeDocument(size_t settings) {
  Document document;
  document.kind = "parallel_efficiency";
  document.name = "parallel_efficiency";
  document.title = "Parallel efficiency of ant_parallel_efficiency";
  document.made_at = "2026-01-02 03:04 UTC";
  document.verdict = {
      "8 runners x 2 environments is the fastest setting: 6,966 ± 148 steps/s, 7 times the baseline.",
      "Balanced: 4 runners x 1 environment gives 2,639 steps/s and keeps all resources below 80 %.",
      "The CPU quota holds back every setting with more than 2 runners.",
  };
  Finding info = UpdateBound();
  info.id = "noisy_measurement";
  info.severity = Severity::kInfo;
  info.title = "The speed of one setting varies by 7.9 % between iterations";
  info.fixes.clear();
  const Diagnosis diagnosis{{CpuThrottled(), UpdateBound(), info},
                            {{"gpu_idle", "no GPU was measured"},
                             {"vram_near_limit", "no GPU was measured"},
                             {"io_stalled", "this kernel has no pressure files"}}};
  document.figures = {
      Speeds("parallel_efficiency_analysis", "Throughput, speedup, efficiency, time and return over parallelism.",
             {"throughput (steps/s)", "speedup", "parallel efficiency (%)", "training time (s)", "mean return"}, settings),
      Speeds("resource_utilization_analysis", "Use of CPU and memory by setting.", {"CPU (%)", "memory (MiB)"}, settings)};
  document.figures[0].panels.push_back(View(TablePanel{"summary", {"setting"}, {{"1 x 1"}}, {}, {}}));
  document.sections = {
      {"results", "Results", {Settings(settings), FigureUse{"parallel_efficiency_analysis"}}},
      {"resources", "Resources", {FigureUse{"resource_utilization_analysis"}}},
      {"findings", "Findings", {FindingList{diagnosis}}},
      {"environment",
       "Environment",
       {FactList{{{"host", "a machine with a rather long name.in.a.domain.example"},
                  {"processor", "Some CPU with a long marketing name @ 2.60 GHz, 2 of 64 cores granted"},
                  {"memory", "16 GiB, limit of the control group 8 GiB"},
                  {"build", "0.1.0, RelWithDebInfo, GCC 12.2"},
                  {"plugins", "env.ant 41f2c0de41f2c0de41f2c0de41f2c0de41f2c0de41f2c0de41f2c0de41f2c0de, learner.ppo"}}}}},
      {"again",
       "The same again",
       {CommandList{{{"Run the experiment again:",
                      "backplane run configs/parallel_efficiency/ant.yaml --set learner.options.train_batch_size=4000 --set "
                      "'env.options.name=a b' --out outputs/ant_parallel_efficiency"},
                     {"Make this report anew:", "backplane report outputs/ant_parallel_efficiency"}}},
        CodeBlock{"The experiment with every default", "yaml",
                  "experiment: ant_parallel_efficiency\nenv:\n  plugin: ant\nlearner:\n  plugin: ppo\n  options:\n    lr: "
                  "0.0003\n"}}},
  };
  document.main_table = "settings";
  document.attachments = {{"recommended_throughput.yaml", "rollout:\n  num_env_runners: 8\n"},
                          {"recommended_balanced.yaml", "rollout:\n  num_env_runners: 4\n"}};
  return document;
}

}  // namespace backplane
