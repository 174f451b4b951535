// Compares the evaluation of a trained policy with a loop that only acts and steps, on the same rows, threads and checkpoint.
// scripts/check_evaluate starts it.
//
//   bench_evaluate TRIAL_JSON EPISODES REPEATS    prints {"evaluate": [steps/s, ...], "loop": [...], "steps": n}
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "contract/checkpoint_files.hpp"
#include "log/log.hpp"
#include "machine/cpu.hpp"
#include "rollout/joint_run.hpp"
#include "rollout/slot_buffers.hpp"
#include "trial/evaluate_order.hpp"
#include "trial/named_checkpoint.hpp"
#include "trial/parts.hpp"
#include "trial/plugin_state.hpp"

namespace backplane::bench {
namespace {

constexpr uint64_t kSeed = 7;

// Steps all rows `steps` times. The env's ends and its time limit reset a row. It adds up no returns.
class Loop {
 public:
  Loop(TrialParts& parts, uint64_t chunk_rows)
      : env_(*parts.evaluation_env()),
        learner_(parts.learner()),
        chunk_rows_(chunk_rows),
        buffers_(env_, learner_, [](const bp_channel&) { return false; }),
        age_(env_.rows()),
        mask_(env_.rows()),
        seeds_(env_.rows(), kSeed) {
    buffers_.Bind();
    terminated_ = buffers_.OfRole(BP_ROLE_TERMINATED)->at<uint8_t>(0, 0);
  }

  void Run(TrialThreads& threads, uint64_t steps) {
    std::atomic<uint64_t> next{0};
    JointRun run;
    run.Run(threads.callers(), threads.clocks(), [&](unsigned, PhaseClock&) {
      for (uint64_t begin; (begin = next.fetch_add(chunk_rows_)) < env_.rows();)
        RunChunk(begin, std::min(begin + chunk_rows_, env_.rows()), steps);
    });
  }

 private:
  void RunChunk(uint64_t begin, uint64_t end, uint64_t steps) {
    const auto limit = static_cast<uint64_t>(env_.spec().max_episode_steps);
    std::fill(age_.begin() + static_cast<int64_t>(begin), age_.begin() + static_cast<int64_t>(end), 0);
    if (env_.Reset(0, begin, end, nullptr, seeds_.data()) != BP_OK) std::abort();
    for (uint64_t t = 0; t < steps; ++t) {
      const bp_act act{sizeof(bp_act),    BP_ACT_GREEDY,      begin,   end,    0, kSeed, t,
                       buffers_.act_in(), buffers_.act_out(), nullptr, nullptr};
      if (learner_.Act(act) != BP_OK || env_.Step(0, begin, end) != BP_OK) std::abort();
      bool any = false;
      for (uint64_t r = begin; r < end; ++r) {
        mask_[r] = terminated_[r] != 0 || ++age_[r] == limit;
        if (mask_[r]) age_[r] = 0, any = true, ++seeds_[r];
      }
      if (any && env_.Reset(0, begin, end, mask_.data(), seeds_.data()) != BP_OK) std::abort();
    }
  }

  EnvInstance& env_;
  LearnerInstance& learner_;
  const uint64_t chunk_rows_;
  SlotBuffers buffers_;
  std::vector<uint64_t> age_;
  std::vector<uint8_t> mask_;
  std::vector<uint64_t> seeds_;
  const uint8_t* terminated_;
};

int Main(const std::string& trial_json, uint64_t episodes, int repeats) {
  TrialSpec spec = ReadTrialSpec(trial_json);
  spec.experiment.rollout.threads = GrantedCores();
  const std::atomic<bool> cancelled{false};
  StatusWriter status(std::filesystem::temp_directory_path() / ("bench_evaluate." + std::to_string(getpid())));
  TrialParts parts(spec, &status, &cancelled, [](const std::string&, int, const std::string&) {});
  const EvaluationShape shape = ShapeOfEvaluation(episodes);
  parts.Load({.monitors = false, .evaluation_rows = shape.rows});
  const Checkpoint checkpoint = ReadNamedCheckpoint(spec.checkpoint_dir, spec.trial_id, std::string(kLastCheckpoint));
  LoadLearner(*StateOf(parts.learner()), parts.learner(), PartOf(checkpoint, "learner"));
  nlohmann::json found = {{"evaluate", nlohmann::json::array()}, {"loop", nlohmann::json::array()}};
  EvaluationOrder order;
  order.episodes = episodes, order.seed = kSeed;
  order.plays = {{kLearnerPolicy, {}}};
  for (int i = 0; i < repeats; ++i) {
    const EvaluationAnswer answer = PlayOrder(order, *parts.evaluation_env(), parts.learner(), *parts.threads(),
                                              EvaluationConfig::kMaxEpisodeSteps, cancelled, [] {});
    double steps = 0;
    for (const double length : answer.plays[0].lengths) steps += length;
    found["evaluate"].push_back(steps / answer.plays[0].wall_s);
    Loop loop(parts, shape.chunk_rows);
    const auto each = static_cast<uint64_t>(steps / static_cast<double>(shape.rows));
    const int64_t start_ns = NowNs();
    loop.Run(*parts.threads(), each);
    found["loop"].push_back(static_cast<double>(each * shape.rows) / (static_cast<double>(NowNs() - start_ns) * 1e-9));
    found["steps"] = steps;
  }
  std::printf("%s\n", found.dump().c_str());
  std::fflush(stdout);
  _exit(0);  // plugins are never unloaded
}

}  // namespace
}  // namespace backplane::bench

int main(int argc, char** argv) {
  if (argc != 4) return std::fputs("usage: bench_evaluate TRIAL_JSON EPISODES REPEATS\n", stderr), 2;
  return backplane::bench::Main(argv[1], std::strtoull(argv[2], nullptr, 10),
                                static_cast<int>(std::strtol(argv[3], nullptr, 10)));
}
