#include "trial/run_worker.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <optional>

#include "base/error_words.hpp"
#include "log/log.hpp"
#include "plugin/plugin_error.hpp"
#include "rollout/candidate_scorer.hpp"
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
    parts_.threads()->clocks()[0].Start(Phase::kIdle);
    const char* const token = std::getenv(kWorkerTokenVariable);
    mail_.Send(Hello{.token = token == nullptr ? "" : token,
                     .trial_id = spec_.trial_id,
                     .number = order_.number,
                     .threads = parts_.threads()->collecting(),
                     .rows = parts_.env().rows()});
    while (const std::optional<Turn> turn = mail_.NextTurn()) Play(*turn, &scorer);
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
    mail_.Send(HowItWent(turn, before, SumOf(clocks), scorer->use()));
  }

  Done HowItWent(const Turn& turn, const PhaseSums& before, const PhaseSums& after, const PoolUse& use) {
    Done done{.turn = turn.number, .phases = {}};
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
