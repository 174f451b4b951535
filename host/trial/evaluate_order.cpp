#include "trial/evaluate_order.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "backplane/ext/parameters.h"

namespace backplane {
namespace {

using Policy = Evaluator::Policy;

constexpr uint64_t kMostChunkRows = 8;  // enough for one call of a learner
constexpr uint64_t kLeastChunks = 32;

Policy PolicyOf(const std::string& word) {
  if (word == kZeroPolicy) return Policy::kZero;
  return word == kUniformPolicy ? Policy::kUniform : Policy::kLearner;
}

// The parameters that the env declares, by name.
class Parameters {
 public:
  explicit Parameters(EnvInstance& env)
      : env_(env.innermost()), table_(env_.Extension<bp_env_parameters_1>(BP_ENV_PARAMETERS_1)) {
    for (uint64_t i = 0; table_ != nullptr; ++i) {
      const char* help = nullptr;
      const char* name = env_.Call("parameter", [&](bp_env* e) { return table_->parameter(e, i, &help); });
      if (name == nullptr) return;
      names_.emplace_back(name);
    }
  }

  void Check(const Factors& factors) const {
    for (const auto& [name, factor] : factors) {
      if (std::ranges::find(names_, name) != names_.end()) continue;
      std::string there;
      for (const std::string& known : names_) there += (there.empty() ? "" : ", ") + known;
      throw TrialFailure(BP_E_CONFIG, env_.id(),
                         fmt::format("--perturb: expected a parameter that the env declares ({}), got '{}'",
                                     there.empty() ? "it declares none, " BP_ENV_PARAMETERS_1 : there, name));
    }
  }

  void Set(const Factors& factors) {
    for (uint64_t i = 0; i < names_.size(); ++i) {
      const auto found = factors.find(names_[i]);
      const double factor = found == factors.end() ? 1 : found->second;
      env_.Call("scale", [&](bp_env* e) { return table_->scale(e, i, factor); });
    }
  }

 private:
  EnvInstance& env_;
  const bp_env_parameters_1* table_;  // NULL: none
  std::vector<std::string> names_;
};

void Append(std::vector<double>* to, const std::vector<double>& values, uint64_t most) {
  to->insert(to->end(), values.begin(),
             values.begin() + static_cast<int64_t>(std::min<uint64_t>(values.size(), most - to->size())));
}

// Plays the episodes of one policy. An env that steps all rows together plays them in passes of one episode per row, and the
// surplus of the last pass is dropped.
class Player {
 public:
  Player(const EvaluationOrder& order, EnvInstance& env, LearnerInstance& learner, TrialThreads& threads,
         uint64_t max_episode_steps, const std::atomic<bool>& cancelled, const std::function<void()>& beat)
      : order_(order),
        env_(env),
        learner_(learner),
        threads_(threads),
        max_episode_steps_(max_episode_steps),
        cancelled_(cancelled),
        beat_(beat) {}

  PlayedEpisodes Play(const EvaluationOrder::Play& play, uint64_t* cap) {
    const int64_t start_ns = NowNs();
    const bool whole = env_.resets_itself() || env_.steps_whole();
    PlayedEpisodes played;
    do {
      Evaluator evaluator(env_, learner_, threads_.callers(), ShapeOfEvaluation(order_.episodes).chunk_rows, order_.seed,
                          cancelled_, beat_, played.returns.size());
      const Policy policy = PolicyOf(play.policy);
      if (policy == Policy::kUniform && !evaluator.HasUniformActions()) return {};
      if (!whole) evaluator.PlayEpisodes(order_.episodes);
      evaluator.CapEpisodes(max_episode_steps_);
      *cap = evaluator.cap();
      Add(evaluator.Play(policy, threads_.clocks()), &played);
    } while (played.returns.size() < order_.episodes);
    played.wall_s = static_cast<double>(NowNs() - start_ns) * 1e-9;
    return played;
  }

 private:
  void Add(const EvaluationResult& result, PlayedEpisodes* played) const {
    Append(&played->returns, result.returns, order_.episodes);
    Append(&played->lengths, result.lengths, order_.episodes);
    for (const auto& [name, values] : result.infos) Append(&played->infos[name], values, order_.episodes);
    played->capped += result.capped;
  }

  const EvaluationOrder& order_;
  EnvInstance& env_;
  LearnerInstance& learner_;
  TrialThreads& threads_;
  const uint64_t max_episode_steps_;
  const std::atomic<bool>& cancelled_;
  const std::function<void()>& beat_;
};

}  // namespace

EvaluationShape ShapeOfEvaluation(uint64_t episodes) {
  const uint64_t chunk_rows = std::clamp<uint64_t>(episodes / kLeastChunks, 1, kMostChunkRows);
  return {RowsForEpisodes(episodes, chunk_rows), chunk_rows};
}

EvaluationAnswer PlayOrder(const EvaluationOrder& order, EnvInstance& env, LearnerInstance& learner, TrialThreads& threads,
                           uint64_t max_episode_steps, const std::atomic<bool>& cancelled, const std::function<void()>& beat) {
  Parameters parameters(env);
  for (const EvaluationOrder::Play& play : order.plays) parameters.Check(play.factors);
  EvaluationAnswer answer;
  Player player(order, env, learner, threads, max_episode_steps, cancelled, beat);
  for (const EvaluationOrder::Play& play : order.plays) {
    parameters.Set(play.factors);
    answer.plays.push_back(player.Play(play, &answer.cap));
  }
  return answer;
}

}  // namespace backplane
