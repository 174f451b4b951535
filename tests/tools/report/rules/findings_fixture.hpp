// A batch of fictitious measures that tests change, and short helpers for its findings.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "results/setting_speed.hpp"
#include "rules/findings.hpp"

namespace backplane {

// Two settings on two cores without any problem, on a machine with all measures. A test changes only the values that it is
// about.
class Batch {
 public:
  Batch() {
    combined_.groups.emplace_back().run.host.granted_cores = 2;
    Add("1x1", 1, 1, 1000).Add("2x1", 2, 1, 1900);
    options_ = {{"update_bound", "learner.options.minibatch_size", 1, "integer", "[1,)"},
                {"update_bound", "learner.options.num_epochs", -1, "integer", "[1,)"}};
  }

  Batch& Add(const std::string& name, uint64_t runners, uint64_t rows, double sps, uint64_t seed = 0, size_t group = 0) {
    TrialData t;
    t.point = t.point_id = t.trial_id = name, t.seed = seed, t.state = TrialState::kCompleted, t.cores = {0, 1}, t.gpus = 1;
    t.config = {{"rollout", {{"num_env_runners", runners}, {"num_envs_per_env_runner", rows}, {"threads", "auto"}}},
                {"learner",
                 {{"options",
                   {{"num_epochs", 10},
                    {"minibatch_size", 128},
                    {"amp", false},
                    {"share", 0.9},
                    {"per_device_train_batch_size", 16},
                    {"gradient_accumulation_steps", 4},
                    {"effective_batch_size", 64}}}}},
                {"budget", {{"iterations", 6}}},
                {"checkpoint", {{"every_iterations", 5}}},
                {"resources", {{"cpus", "auto"}}}};
    for (const auto& [measure, value] :
         std::map<std::string, double>{{"SPS", sps},
                                       {"threads", std::min<double>(static_cast<double>(runners), 2)},
                                       {"learner_threads", 2},
                                       {"floor_uniform/return", 0},
                                       {"iteration_s", 0.5},
                                       {"train/kl", 0.05},
                                       {"phase/env_step", 40},
                                       {"phase/infer", 20},
                                       {"phase/update_backward", 20},
                                       {"phase/idle", 20},
                                       {"resources/cpu_cores_used", 1.4},
                                       {"resources/cpu_quota_pct", 70},
                                       {"resources/ram_system_pct", 40},
                                       {"resources/memory_limit_pct", 40},
                                       {"resources/run_queue_wait_pct", 3},
                                       {"resources/throttled_periods_pct", 0},
                                       {"resources/cpu_heat_throttled_pct", 0},
                                       {"resources/gpu_ecc_uncorrected", 0},
                                       {"resources/psi_cpu_some_pct", 2},
                                       {"resources/psi_io_some_pct", 0},
                                       {"resources/gpu_util_pct", 92},
                                       {"resources/gpu_memory_pct", 85},
                                       {"resources/gpu_throttled_pct", 0},
                                       {"resources/sm_util_pct", 60}}) {
      Number& n = t.measures[measure];
      n.value = value;
      if (measure.starts_with("resources/")) n.n = 12, n.of = "samples", n.max = value, n.p95 = value;
    }
    for (uint64_t i = 0; i < 12; ++i)
      t.curves["SPS"].push_back({i + 1, 0, 0, i == 0 ? sps / 2 : sps * (i % 2 ? 1.01 : 0.99), i == 0});
    for (uint64_t i = 0; i < 80; ++i) {
      t.curves["return"].push_back({i + 1, 0, 0, static_cast<double>(i)});
      t.curves["train/kl"].push_back({i + 1, 0, 0, 0.05});
      t.curves["train/return_std"].push_back({i + 1, 0, 0, 10});
    }
    combined_.trials.push_back({std::move(t), group});
    return *this;
  }

  // Sets a measure of the last trial.
  Batch& Measure(const std::string& name, double value) {
    Number& n = last().measures[name];
    n.value = value;
    if (n.of == "samples") n.max = value, n.p95 = value;
    return *this;
  }
  Batch& Configure(const std::string& path, const nlohmann::json& value) {
    std::string pointer = "/" + path;
    std::replace(pointer.begin(), pointer.end(), '.', '/');
    last().config[nlohmann::json::json_pointer(pointer)] = value;
    return *this;
  }
  // Marks the path as swept, with the trials' values.
  Batch& Sweep(const std::string& path) {
    for (CombinedTrial& t : combined_.trials) t.data.values.emplace_back(path, t.data.At(path));
    return *this;
  }
  // The first setting and the others have these (even) numbers of seeds. Half of them are as far above the setting's SPS as the
  // others are below it: the standard deviation of the logarithms is `sd`.
  Batch& Seeded(uint64_t n_of_first, uint64_t n_of_others, double sd) {
    const std::vector<CombinedTrial> settings = std::move(combined_.trials);
    combined_.trials.clear();
    for (const CombinedTrial& setting : settings) {
      const uint64_t n = combined_.trials.empty() ? n_of_first : n_of_others;
      const double by = sd * std::sqrt(static_cast<double>(n - 1) / static_cast<double>(n));
      for (uint64_t seed = 0; seed < n; ++seed) {
        combined_.trials.push_back(setting);
        last().seed = seed;
        last().measures.at("SPS").value *= std::exp(seed % 2 ? by : -by);
      }
    }
    return *this;
  }
  Batch& Speeds(const std::vector<double>& values) {
    std::vector<CurvePoint>& curve = last().curves["SPS"];
    curve.clear();
    for (const double v : values) curve.push_back({curve.size() + 1, 0, 0, v, curve.empty()});
    return *this;
  }
  // The return rises from about 5 to about 65, and falls to `to` in the last eighth.
  Batch& FallsTo(double to) {
    std::vector<CurvePoint>& curve = last().curves["return"];
    for (size_t i = curve.size() * 7 / 8; i < curve.size(); ++i) curve[i].value = to;
    return *this;
  }
  // The spread of the candidates' returns falls to a share of its value in the last eighth.
  Batch& SpreadFallsTo(double share) {
    std::vector<CurvePoint>& curve = last().curves["train/return_std"];
    for (size_t i = curve.size() * 7 / 8; i < curve.size(); ++i) curve[i].value *= share;
    return *this;
  }
  Batch& RunsOutOfMemory() {
    last().state = TrialState::kInfeasible, last().outcome = Outcome::kOom, last().why = "no memory left";
    return *this;
  }
  // Ten speeds after the first, half of them this far above 1000 and half below.
  Batch& Wavering(double by) {
    std::vector<double> speeds = {1};
    for (int i = 0; i < 10; ++i) speeds.push_back(1000 + (i % 2 ? by : -by));
    return Speeds(speeds);
  }
  TrialData& first() { return combined_.trials.front().data; }
  TrialData& last() { return combined_.trials.back().data; }
  Number& Of(const std::string& measure) { return last().measures.at(measure); }
  std::vector<OptionHelp>& options() { return options_; }
  Combined& combined() { return combined_; }

  // Removes measures from all trials.
  Batch& Forget(const std::string& prefix) {
    for (CombinedTrial& t : combined_.trials) {
      std::erase_if(t.data.measures, [&](const auto& m) { return m.first.starts_with(prefix); });
    }
    return *this;
  }

  Diagnosis Diagnose() {
    const ParallelEfficiency parallel = Score();
    return backplane::Diagnose(combined_, &parallel, options_);
  }
  Diagnosis DiagnoseWithoutScores() { return backplane::Diagnose(combined_, nullptr, options_); }

 private:
  // Compared with the group's first setting, which has one row on one core. Each group is a series.
  ParallelEfficiency Score() const {
    ParallelEfficiency p;
    for (size_t i = 0; i < combined_.trials.size(); ++i) {
      const auto& [t, group] = combined_.trials[i];
      auto known = std::find_if(p.settings.begin(), p.settings.end(),
                                [&, g = group, name = t.point](const Setting& s) { return s.series == g && s.name == name; });
      if (known == p.settings.end()) known = p.settings.insert(known, Unmeasured(t, group));
      known->trials.push_back(i), known->usable += t.usable();
      if (!t.usable() || !t.measures.contains("SPS")) continue;
      known->sps = t.measures.at("SPS");
      known->speeds.push_back(known->sps->value);
    }
    for (const Setting& s : p.settings) p.series.resize(std::max(p.series.size(), s.series + 1));
    for (size_t group = 0; group < p.series.size(); ++group) p.series[group].group = group;
    MeasureSpeeds(p.series, &p.settings);
    for (size_t i = 0; i < p.settings.size(); ++i) {
      Setting& s = p.settings[i];
      if (!s.sps) continue;
      std::optional<size_t>& baseline = p.series[s.series].baseline;
      if (!baseline) baseline = i;
      s.speedup = s.sps->value / p.settings[*baseline].sps->value;
      s.efficiency_pct = 100 * *s.speedup / static_cast<double>(s.parallelism());
      s.core_efficiency_pct = 100 * *s.speedup / static_cast<double>(std::min<uint64_t>(s.num_env_runners, s.cores));
    }
    return p;
  }

  static Setting Unmeasured(const TrialData& t, size_t group) {
    Setting s;
    s.series = group, s.name = t.point, s.cores = t.cores.size();
    s.num_env_runners = t.config["rollout"]["num_env_runners"];
    s.num_envs_per_env_runner = t.config["rollout"]["num_envs_per_env_runner"];
    return s;
  }

  Combined combined_;
  std::vector<OptionHelp> options_;
};

inline std::vector<std::string> Ids(const Diagnosis& d) {
  std::vector<std::string> ids;
  for (const Finding& f : d.findings) ids.push_back(f.id);
  return ids;
}

inline Finding The(const std::string& id, const Diagnosis& d) {
  for (const Finding& f : d.findings)
    if (f.id == id) return f;
  throw std::runtime_error(id + " did not fire");
}

inline std::string WhySilent(const std::string& id, const Diagnosis& d) {
  for (const SilentRule& s : d.silent)
    if (s.id == id) return s.why;
  return "";
}

// "rollout.threads: 16 -> 2"
inline std::vector<std::string> Changes(const Finding& f) {
  std::vector<std::string> changes;
  for (const Fix& fix : f.fixes) changes.push_back(fix.path + ": " + fix.from.dump() + " -> " + fix.to.dump());
  return changes;
}

// Changes of a batch's last trial.
inline std::function<void(Batch&)> With(const std::string& measure, double value) {
  return [=](Batch& b) { b.Measure(measure, value); };
}

// `part` percent of the time in which threads are not idle.
inline std::function<void(Batch&)> Share(const std::string& phase, double part) {
  return [=](Batch& b) { b.Forget("phase/").Measure("phase/idle", 20).Measure("phase/infer", 1).Measure(phase, 0.8 * part); };
}

inline std::function<void(Batch&)> Both(std::function<void(Batch&)> a, std::function<void(Batch&)> b) {
  return [a = std::move(a), b = std::move(b)](Batch& batch) { a(batch), b(batch); };
}

inline std::function<void(Batch&)> TwiceTheRunners(double sps) {
  return [=](Batch& b) { b.Add("4x1", 4, 1, sps); };
}

}  // namespace backplane
