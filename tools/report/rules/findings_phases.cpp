// Rules about the threads' time.
#include <fmt/format.h>

#include <algorithm>

#include "record/chunk_rows.hpp"
#include "results/series.hpp"
#include "rules/finding_fix.hpp"
#include "rules/finding_rule.hpp"

namespace backplane {
namespace {

constexpr double kEnvPct = 70, kCollectionPct = 70, kActPct = 40, kUpdatePct = 50, kSyncPct = 10, kTransferPct = 15;
constexpr uint64_t kFewRows = kMostAutoChunkRows;  // per call
constexpr char kWindow[] = "share of the threads' busy time, whole trial";

// Another setting of the series that already uses these cores better.
const Setting* SettingThatFills(const Case& c, uint64_t cores) {
  if (!c.setting) return nullptr;
  for (const Setting& other : c.parallel->settings) {
    if (other.series == c.setting->series && other.usable > 0 && other.num_env_runners >= cores) return &other;
  }
  return nullptr;
}

// More runners only help while a core has none. If all cores already step envs, the machine is the limit, which is no fault.
RuleVerdict EnvBound(const Case& c) {
  if (!c.HasPhases()) return Silent(NotMeasured(c, "phase/env_step"));
  const double share = c.BusyShare({"env_step", "env_reset"});
  if (share <= kEnvPct) return Quiet();
  const std::optional<uint64_t> cores = c.Cores(), runners = c.Count(kRunnersPath);
  if (!cores || !runners) return Silent("the granted cores or the number of runners were not recorded");
  const std::optional<double> told = c.Value("threads");
  const std::optional<uint64_t> configured = c.Count("rollout.threads");
  const double threads = told.value_or(static_cast<double>(configured.value_or(std::min(*runners, *cores))));
  Finding f;
  f.title = fmt::format("The envs take {:.0f} % of the threads' time", share);
  f.evidence = {{"phase/env_step + phase/env_reset", share, kEnvPct, "%", kWindow}};
  f.effect = "More cores step envs, so SPS rises";
  f.moves = "SPS", f.direction = 1;
  f.confidence = "high: the trial measured its phases and threads";
  if (threads >= static_cast<double>(*cores)) {
    f.cause = fmt::format("Every granted core ({}) steps envs already: the machine is the limit.", *cores);
    AddMoreCores(c, &f.fixes);
    return Fires(share, f, "machine");
  }
  f.severity = Severity::kWarning;
  f.cause = fmt::format("{:.0f} of {} cores step envs while the others wait.", threads, *cores);
  if (configured) AddFix(c, "rollout.threads", *cores, &f.fixes);
  if (*runners < *cores) AddFix(c, kRunnersPath, *cores, &f.fixes);
  if (f.fixes.empty()) f.cause += " There are enough runners, but a plugin that is not thread-safe limits them to one thread.";
  if (const Setting* fills = SettingThatFills(c, *cores); fills && !f.fixes.empty()) {
    f.severity = Severity::kInfo;
    f.cause += fmt::format(" The setting {} of this batch uses all cores.", fills->name);
  }
  // With fewer threads, more gain is possible.
  return Fires(share * static_cast<double>(*cores) / std::max(1.0, threads), f, "idle cores");
}

// Rows per call of act and step, as counted by the host.
uint64_t PlannedRowsOfACall(const Case& c, uint64_t rows_of_a_runner) {
  return c.Count("rollout.chunk_rows").value_or(AutoChunkRows(rows_of_a_runner));
}

bool LacksRunners(const Case& c, uint64_t runners, uint64_t cores) {
  return runners < cores && !c.Count("rollout.threads") && !SettingThatFills(c, cores);
}

void AddMoreRunners(const Case& c, uint64_t runners, uint64_t cores, Finding* f) {
  f->cause = fmt::format("{} while {} cores are granted.",
                         runners == 1 ? "One runner collects" : fmt::format("{} runners collect", runners), cores);
  AddFix(c, kRunnersPath, cores, &f->fixes);
}

void AddMoreRows(const Case& c, uint64_t of_a_call, uint64_t rows, bool takes_all, Finding* f) {
  f->cause += fmt::format("{}Each call acts for {} only, so its fixed cost dominates.", f->cause.empty() ? "" : " ",
                          of_a_call == 1 ? "one env" : fmt::format("{} envs", of_a_call));
  if (c.Count("rollout.chunk_rows") && !takes_all) AddFix(c, "rollout.chunk_rows", kFewRows, &f->fixes);
  if (rows < kFewRows) AddFix(c, kRowsPath, kFewRows, &f->fixes);
}

// Every call has a fixed cost, and a runner makes calls one after the other: few rows and one runner leave processors without
// work. If the envs take most of the time, EnvBound fires instead. If another setting of the series gives every core a runner,
// the report already shows the gain.
RuleVerdict CollectionBound(const Case& c) {
  if (!c.HasPhases()) return Silent(NotMeasured(c, "phase/infer"));
  const double envs = c.BusyShare({"env_step", "env_reset"}), acts = c.BusyShare({"infer"}), share = envs + acts;
  if (share <= kCollectionPct || envs > kEnvPct) return Quiet();
  const std::optional<uint64_t> cores = c.Cores(), runners = c.Count(kRunnersPath), rows = c.Count(kRowsPath);
  if (!cores || !runners || !rows) return Silent("the granted cores, or the numbers of runners and envs, were not recorded");
  const uint64_t planned = PlannedRowsOfACall(c, *rows);
  const uint64_t of_a_call = static_cast<uint64_t>(c.Value("chunk_rows").value_or(static_cast<double>(planned)));
  // A plugin that is not thread-safe gets the rows of all runners in each call: more runners add rows, but use no more cores.
  const bool takes_all = of_a_call > planned;
  const bool few_rows = of_a_call < kFewRows && 100 * acts >= kActPct * share;
  const bool few_runners = !takes_all && LacksRunners(c, *runners, *cores);
  if (!few_rows && !few_runners) return Quiet();
  Finding f;
  f.severity = Severity::kWarning;
  f.title =
      fmt::format("Collecting takes {:.0f} % of the threads' time: action selection {:.0f}, envs {:.0f}", share, acts, envs);
  f.evidence = {{"phase/infer + phase/env_step + phase/env_reset", share, kCollectionPct, "%", kWindow}};
  f.moves = "sampling_sps", f.direction = 1;
  f.confidence = few_runners ? "medium: the gain from more runners and the effect on learning were not measured"
                             : "medium: the gain depends on the fixed cost of a call, which was not measured";
  if (few_runners) AddMoreRunners(c, *runners, *cores, &f);
  if (few_rows) AddMoreRows(c, of_a_call, *rows, takes_all, &f);
  f.effect =
      "Collecting gets faster: sampling_sps rises. With more envs, each rollout is shorter for the same batch: compare returns";
  return Fires(share, f, few_runners ? "few runners" : "few rows");
}

RuleVerdict UpdateBound(const Case& c) {
  if (!c.HasPhases()) return Silent(NotMeasured(c, "phase/update_*"));
  const double share = c.BusyShare({"update_forward", "update_backward", "update_optim"});
  if (share <= kUpdatePct) return Quiet();
  Finding f;
  f.severity = Severity::kWarning;
  f.title = fmt::format("Updates take {:.0f} % of the threads' time", share);
  f.evidence = {{"phase/update_*", share, kUpdatePct, "%", kWindow}};
  f.effect = "Updates take less time, so SPS rises. Learning per sample changes: compare returns before you keep the change";
  f.moves = "SPS", f.direction = 1;
  f.confidence = "high for the speed; the effect on learning is unknown";
  AddOptionFixes(c, "update_bound", &f.fixes);
  return Fires(share, f);
}

RuleVerdict SyncOverhead(const Case& c) {
  if (!c.HasPhases()) return Silent(NotMeasured(c, "phase/sync"));
  const double share = c.BusyShare({"sync"});
  if (share <= kSyncPct) return Quiet();
  Finding f;
  f.severity = Severity::kWarning;
  f.title = fmt::format("Hand-overs between requests take {:.0f} % of the threads' time", share);
  f.evidence = {{"phase/sync", share, kSyncPct, "%", kWindow}};
  f.effect = "The same steps need fewer requests, so phase/sync falls";
  f.moves = "phase/sync", f.direction = -1;
  f.confidence = "high: measured directly";
  AddOptionFixes(c, "sync_overhead", &f.fixes);
  return Fires(share, f);
}

RuleVerdict TransferBound(const Case& c) {
  if (!c.HasPhases()) return Silent(NotMeasured(c, "phase/obs_transfer"));
  const double share = c.BusyShare({"obs_transfer", "act_transfer"});
  if (share <= kTransferPct) return Quiet();
  const bool obs = c.BusyShare({"obs_transfer"}) >= c.BusyShare({"act_transfer"});
  Finding f;
  f.severity = Severity::kWarning;
  f.title = fmt::format("Copying observations and actions takes {:.0f} % of the threads' time", share);
  f.evidence = {{"phase/obs_transfer + phase/act_transfer", share, kTransferPct, "%", kWindow}};
  f.effect = "The trial copies less, so the transfer phases fall";
  f.moves = obs ? "phase/obs_transfer" : "phase/act_transfer", f.direction = -1;
  f.confidence = "high: measured directly";
  // A copy to a device has a fixed cost per call.
  if (c.HasGpu()) AddDoubled(c, kRowsPath, "[1,)", &f.fixes);
  AddOptionFixes(c, "transfer_bound", &f.fixes);
  return Fires(share, f);
}

}  // namespace

std::vector<Rule> PhaseRules() {
  return {
      {{"env_bound", "env_step and env_reset take > 70 % of the time in which threads are not idle",
        "Stepping the envs limits the speed.",
        "if fewer threads collect than cores are granted, raise rollout.num_env_runners (and rollout.threads, if set) to the "
        "cores; else raise resources.cpus",
        "70 %: thresholds of this project. Idle time does not count, because unused cores would hide the cases in which more "
        "runners help. "
        "A note if all cores are busy, or if a different setting of the batch uses them."},
       "phase/*; the granted cores, and threads",
       EnvBound},
      {{"collection_bound",
        "infer, env_step and env_reset together take > 70 % of the time in which threads are not idle, and env_step and "
        "env_reset without infer do not. In addition, a call acts for fewer than 16 envs (and infer is at least 40 % of the "
        "three), or there are fewer "
        "runners than cores and no other setting of the batch has one per core",
        "Collecting limits the speed: env steps and action selection alternate, on few envs or few threads.",
        "raise rollout.num_env_runners to the cores; raise rollout.num_envs_per_env_runner (or rollout.chunk_rows, if set) to "
        "16",
        "70 %, 40 %, and 16 envs, which is the host's largest automatic chunk: thresholds of this project. Idle time does not "
        "count."},
       "phase/*; the granted cores, runners and envs",
       CollectionBound},
      {{"update_bound",
        "update_forward, update_backward and update_optim take > 50 % of the time in which threads are not idle",
        "The learner's updates limit the speed, not the envs.",
        "set options of the learner that declare to help: fewer epochs, larger minibatches",
        "50 %: this project, without a published source. Idle time does not count, because it grows with unused cores."},
       "phase/*",
       UpdateBound},
      {{"sync_overhead", "sync takes > 10 % of the time in which threads are not idle",
        "The hand-overs between two requests of the learner take noticeable time. Rollout workers also load the weights then.",
        "set options that declare to help: larger rollouts, more candidates per request",
        "10 %: as for communication in torch_tb_profiler; XProf calls collectives moderate from 3 and high from 15 %."},
       "phase/*",
       SyncOverhead},
      {{"transfer_bound", "obs_transfer and act_transfer take > 15 % of the time in which threads are not idle",
        "The trial copies observations and actions between envs and learner, or between host and device.",
        "with a GPU, raise rollout.num_envs_per_env_runner, because each copy has a fixed cost; set options that declare to "
        "help: fewer copied bytes, an env on the device",
        "15 %: this project; XProf calls an input share of 5 to 20 % moderate."},
       "phase/*",
       TransferBound},
  };
}

}  // namespace backplane
