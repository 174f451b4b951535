// How the loop serves a learner that has candidates evaluated.
#include "trial/loop.hpp"

namespace backplane {

CandidateScorer& TrialLoop::Scorer() {
  if (!scorer_)
    scorer_ =
        std::make_unique<CandidateScorer>(parts_.env, parts_.learner, parts_.threads.collectors(), parts_.chunk_rows,
                                          parts_.spec.experiment.seed, parts_.cancelled, [this] { parts_.status.Beat(); });
  if (!scorer_has_env_) {
    collector_.ReleaseEnv();
    scorer_->Bind();
    scorer_has_env_ = true;
  }
  return *scorer_;
}

void TrialLoop::Candidates(const bp_request& request) {
  open_ = begun_ = true;
  iteration_start_ns_ = NowNs();
  parts_.status.SetPhase("evaluate");
  CandidateScorer& scorer = Scorer();
  if (!scorer.Score(request, clocks_)) {
    open_ = false;
    stopped_ = true;
    return;
  }
  collect_ns_ = SinceIterationStart();
  RestoreProcessState(Suspects());
  RecordUse(scorer.use());
  iteration_steps_ = scorer.env_steps();
  env_steps_ += iteration_steps_;
  RecordEpisodes(scorer.episodes(), scorer.info_names());
  const PhaseSpan span(clocks_[0], Phase::kBatchBuild);
  parts_.status.SetPhase("batch_build");
  bp_delivery delivery = scorer.Delivery();
  delivery.env_steps = env_steps_;
  Consume(delivery);
}

}  // namespace backplane
