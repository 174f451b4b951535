// One env plugin in the host's collector, with a learner that does nothing: the test sets the actions, or replays recorded
// random ones.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "plugin/catalog.hpp"
#include "rollout/candidate_scorer.hpp"
#include "rollout/rollout_collector.hpp"

namespace backplane::test_support {

constexpr uint64_t kEnvSeed = 1;  // of every Host's episodes

struct Setting {
  std::string file;  // of the env plugin
  uint64_t rows = 64, chunk_rows = 16, horizon = 64;
  unsigned threads = 1;
  bool pin = false;
  uint64_t spin = 0;    // instructions (about) that `act` wastes per row: a negative control
  bool still = false;   // all actions are 0
  bool masked = false;  // `act` draws evenly from the choices of ACTION_MASK instead of doing nothing
  nlohmann::json options = nlohmann::json::object();  // options of the env instead of its defaults
};

class Host {
 public:
  // Loads, creates and binds for `setting.horizon`; the action buffers contain uniform draws from the action space. Two hosts
  // of the same file and rows play the same episodes, whatever the other settings.
  explicit Host(const Setting& setting);

  // One rollout of setting.horizon steps.
  void Collect();
  // The first episodes of all rows within setting.horizon steps, as an evaluation of as many candidates; all actions are 0.
  // False if an episode has ended earlier.
  bool Score();
  // Actions of steps [first, first + setting.horizon).
  void FillActions(uint64_t first);
  // The actions of all steps, as bytes, and back.
  std::vector<std::byte> Actions();
  void SetActions(const std::vector<std::byte>& actions);
  const std::string& id() const { return info_->id; }
  const nlohmann::json& options() const { return options_; }
  EnvInstance& env() { return *env_; }
  RolloutCollector& collector() { return *collector_; }
  const PoolUse& use() const { return scorer_ ? scorer_->use() : collector_->use(); }
  // The row's whole saved state. Throws std::runtime_error if the env has no snapshots.
  std::vector<char> Snapshot(uint64_t row);

 private:
  template <class Function>
  void ForEachActionRow(Function&& function);

  Setting setting_;
  Catalog catalog_;
  const PluginInfo* info_;
  nlohmann::json options_;
  std::atomic<bool> cancelled_{false};
  HostSinks sinks_;
  std::unique_ptr<LoadedModule> module_, learner_module_;
  std::unique_ptr<EnvInstance> env_;
  std::unique_ptr<LearnerInstance> learner_;
  RunnerPool pool_;
  std::vector<PhaseClock> clocks_;
  std::unique_ptr<RolloutCollector> collector_;
  std::unique_ptr<CandidateScorer> scorer_;  // from the first Score on
};

}  // namespace backplane::test_support
