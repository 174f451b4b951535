#include "trial/run_worker.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <utility>

#include "base/error_words.hpp"
#include "log/log.hpp"
#include "plugin/plugin_error.hpp"
#include "rollout/candidate_scorer.hpp"
#include "rollout/rollout_collector.hpp"
#include "trial/exit_reason.hpp"
#include "trial/parts.hpp"
#include "trial/plugin_state.hpp"
#include "trial/prepare.hpp"
#include "workers/listener.hpp"
#include "workers/mailbox.hpp"
#include "workers/messages.hpp"

namespace backplane {
namespace {

// Several times within a third of resources.hang_timeout, after which the trial ends a silent worker (run_trial.cpp).
int64_t BeatEvery_ns(double hang_timeout_s) {
  constexpr double kSlowest_s = 1, kBeatsPerTimeout = 12;
  return static_cast<int64_t>(std::min(kSlowest_s, hang_timeout_s / kBeatsPerTimeout) * 1e9);
}

class WorkerProcess {
 public:
  WorkerProcess(TrialSpec spec, const WorkerOrder& order, Mailbox* mail)
      : spec_(ForWorker(std::move(spec), order)),
        order_(order),
        mail_(*mail),
        status_(std::filesystem::path()),
        parts_(spec_, &status_, &cancelled_,
               [](const std::string& id, int, const std::string& text) { LogError("{}: {}", id, text); }) {}

  void Run() {
    KeepProcessState();
    parts_.Load({.monitors = false, .evaluation_rows = 0});
    CandidateScorer scorer(parts_.env(), parts_.learner(), parts_.threads()->collectors(), parts_.chunk_rows(),
                           spec_.experiment.seed, cancelled_, [this] { Beat(); });
    scorer.CapEpisodes(spec_.experiment.evaluation.max_episode_steps);
    scorer.Bind();
    bool scores_candidates = true;  // its buffers are bound to the env
    parts_.threads()->clocks()[0].Start(Phase::kIdle);
    const char* const token = std::getenv(kWorkerTokenVariable);
    mail_.Send(Hello{.token = token == nullptr ? "" : token,
                     .trial_id = spec_.trial_id,
                     .number = order_.number,
                     .threads = parts_.threads()->collecting(),
                     .rows = parts_.env().rows(),
                     .processor = ProcessorOfThis()});
    for (;;) {
      const Mailbox::Work work = mail_.NextTurn();
      if (const auto* rollout = std::get_if<Mailbox::GivenRollout>(&work)) {
        scores_candidates = false;
        Play(*rollout);
        continue;
      }
      if (!std::exchange(scores_candidates, true)) {
        collector_->ReleaseEnv();
        scorer.Bind();
      }
      Play(std::get<Turn>(work), &scorer);
    }
  }

 private:
  // The trial pins its own threads if configured. Two pinned workers on one core would halve both.
  static TrialSpec ForWorker(TrialSpec spec, const WorkerOrder& order) {
    spec.experiment.rollout.threads = order.threads;
    spec.experiment.rollout.pin_threads = false;
    return spec;
  }

  void Play(const Turn& turn, CandidateScorer* scorer) {
    std::vector<PhaseClock>& clocks = parts_.threads()->clocks();
    const PhaseSums before = SumOf(clocks);
    {
      const PhaseSpan prepares(clocks[0], Phase::kSync);
      LearnerInstance& learner = parts_.learner();
      LoadLearner(*StateOf(learner), learner, turn.state);
      const bp_request request = learner.Plan(turn.limits);
      if (request.kind == BP_REQ_EVALUATE) CandidateScorer::Check(request, parts_.env(), learner);
      const Ready ready{turn.number, DigestOf(request)};
      if (request.kind == BP_REQ_EVALUATE)
        scorer->StartGiven(request, turn.most, [this, &turn](uint64_t job, const JobScore& score) {
          mail_.Send(Score{turn.number, job, score});
        });
      mail_.DeliverTo(scorer);
      mail_.Send(ready);
      // Other requests yield no scores, because the trial rejects them.
      if (request.kind == BP_REQ_EVALUATE) scorer->PlayGiven(clocks);
    }
    mail_.Send(HowItWent(turn.number, before, SumOf(clocks), scorer->use()));
  }

  void Play(const Mailbox::GivenRollout& given) {
    std::vector<PhaseClock>& clocks = parts_.threads()->clocks();
    const PhaseSums before = SumOf(clocks);
    const RolloutOrder& order = given.order;
    RolloutCollector& collector = Collector();
    {
      const PhaseSpan prepares(clocks[0], Phase::kSync);
      LoadPolicyOf(order);
      collector.SetPolicySteps(order.policy_steps);
      collector.BeginGiven(order.part, order.shared, clocks[0]);
      for (const ChunkStart& start : given.starts)
        if (!collector.SetStart(start)) throw FrameError("expected the rows of a chunk, got a different size");
      collector.PlayGiven(order.chunks, clocks);
      for (const uint64_t chunk : order.chunks) mail_.Send(PlayedChunk{order.number, collector.PlayedOf(chunk)});
    }
    mail_.Send(HowItWent(order.number, before, SumOf(clocks), collector.use()));
  }

  // Binds the env to its own buffers in its next rollout.
  RolloutCollector& Collector() {
    if (!collector_)
      collector_ = std::make_unique<RolloutCollector>(
          parts_.env(), parts_.learner(), parts_.threads()->collectors(),
          RolloutCollectorConfig{parts_.call_rows(), spec_.experiment.seed, parts_.chunk_rows(), &memory_}, cancelled_,
          [this] { Beat(); });
    return *collector_;
  }

  void LoadPolicyOf(const RolloutOrder& order) {
    LearnerInstance& learner = parts_.learner();
    if (order.whole == 0) return LoadPolicy(learner, order.state);
    LoadLearner(*StateOf(learner), learner, order.state);
    const bp_request request = learner.Plan(order.limits);
    if (request.kind != BP_REQ_ROLLOUT || request.u.rollout.horizon != order.part.steps)
      throw TrialFailure(
          BP_E_INTERNAL, learner.id(),
          fmt::format("plan: with the same saved state and limits, it asks for a rollout of {} steps in the trial, but "
                      "for a different request in a rollout worker; make the plan depend only on them, or set "
                      "rollout.workers: 0",
                      order.part.steps));
  }

  Done HowItWent(uint64_t turn, const PhaseSums& before, const PhaseSums& after, const PoolUse& use) {
    Done done{.turn = turn, .phases = {}};
    for (size_t p = 0; p < kPhaseCount; ++p) {
      done.phases.ns[p] = after.ns[p] - before.ns[p];
      done.phases.cpu_ns[p] = after.cpu_ns[p] - before.cpu_ns[p];
      done.phases.cpu_wall_ns[p] = after.cpu_wall_ns[p] - before.cpu_wall_ns[p];
    }
    const double threads = parts_.threads()->collecting();
    done.cpu_s = use.cpu_s;
    done.most_cpu_s = use.balance > 0 ? use.cpu_s / threads / use.balance : 0;
    return done;
  }

  // Called by any of the playing threads.
  void Beat() {
    int64_t last = last_beat_ns_.load(std::memory_order_relaxed);
    const int64_t now = NowNs();
    if (now - last >= beat_every_ns_ && last_beat_ns_.compare_exchange_strong(last, now)) mail_.SendBeat();
  }

  const TrialSpec spec_;
  const int64_t beat_every_ns_ = BeatEvery_ns(spec_.experiment.resources.hang_timeout_s);
  const WorkerOrder order_;
  Mailbox& mail_;
  std::atomic<bool> cancelled_{false};
  std::atomic<int64_t> last_beat_ns_{0};
  StatusWriter status_;
  TrialParts parts_;
  SharedMemory memory_{order_.memory_fd};
  std::unique_ptr<RolloutCollector> collector_;  // created by the first rollout
};

Failed FailureOfCurrentException() {
  try {
    throw;
  } catch (const TrialFailure& e) {
    const std::string text = e.what(), prefix = e.plugin() + ": ";
    return {e.status(), e.plugin(), text.starts_with(prefix) ? text.substr(prefix.size()) : text};
  } catch (const PluginError& e) {
    return {BP_E_INTERNAL, tls_running_plugin, e.what()};
  } catch (const std::bad_alloc&) {
    return {BP_E_OOM_HOST, tls_running_plugin, "out of memory"};
  } catch (const std::exception& e) {
    return {BP_OK, "", WordsOf(e)};
  }
}

}  // namespace

int RunWorker(const WorkerOrder& order) {
  // The trial handles a stop, saves itself and ends this process.
  for (const int s : {SIGTERM, SIGINT, SIGHUP}) signal(s, SIG_IGN);
  PrepareForPlugins();
  std::optional<Mailbox> mail;
  try {
    mail.emplace(order.fd >= 0 ? order.fd : CallTrial(order.connect));
    auto* process = new WorkerProcess(ReadTrialSpec(order.trial_json), order, &*mail);  // never destroyed, like a trial's
    process->Run();
    return kExitOk;
  } catch (...) {
    const Failed failed = FailureOfCurrentException();
    LogError("{}{}{}", failed.plugin, failed.plugin.empty() ? "" : ": ", failed.text);
    if (mail) mail->Send(failed);
    return kExitTemp;
  }
}

}  // namespace backplane
