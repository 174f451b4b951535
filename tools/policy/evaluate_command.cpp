// evaluate: plays many episodes with the policies of trials.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>

#include "arguments/tool_commands.hpp"
#include "base/files.hpp"
#include "base/json_text.hpp"
#include "base/run_process.hpp"
#include "base/scratch_folder.hpp"
#include "contract/checkpoint_files.hpp"
#include "input/report_program.hpp"
#include "log/log.hpp"
#include "plugin/trial_process.hpp"
#include "policy/changed_env.hpp"
#include "policy/commands.hpp"
#include "policy/evaluated.hpp"
#include "policy/perturbation.hpp"
#include "text/text_table.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kEpisodes = 100, kMostEpisodes = 10'000'000;
constexpr uint64_t kSeed = 1'000'000'007;  // differs from usual training seeds, whose episodes may have chosen the checkpoint
constexpr uint64_t kFilms = 3;

struct EvaluateArgs {
  fs::path out;
  std::vector<std::string> trials;  // names as for replay; empty: all of the folder
  EnvChange change;
  uint64_t episodes = kEpisodes, seed = kSeed, threads = 0;
  std::string checkpoint = std::string(kLastCheckpoint);
  std::string perturb;
  fs::path to;  // empty: the next free number in OUT/evaluations
  bool no_baselines = false, watch = false, json = false;
};

fs::path FolderFor(const EvaluateArgs& args) {
  if (!args.to.empty()) return args.to;
  for (unsigned number = 1;; ++number)
    if (fs::path folder = args.out / "evaluations" / std::to_string(number); !fs::exists(folder)) return folder;
}

class Evaluation {
 public:
  Evaluation(const EvaluateArgs& args, std::vector<OneTrial> trials)
      : args_(args), trials_(std::move(trials)), factors_(ParsePerturbations(args.perturb)) {
    evaluated_.seed = args.seed, evaluated_.n = args.episodes;
    // An error of any trial comes before the first one plays.
    for (const OneTrial& trial : trials_) envs_.push_back(ChangeEnv(trial, args.change));
  }

  void Play() {
    std::vector<EvaluatedRow> baselines;
    for (size_t i = 0; i < trials_.size(); ++i) PlayTrial(trials_[i], envs_[i], &baselines);
    std::ranges::move(baselines, std::back_inserter(evaluated_.rows));
  }

  // Films the first episodes of each trial. Returns the files.
  std::vector<fs::path> Film(const fs::path& folder) {
    std::vector<fs::path> films;
    for (size_t i = 0; i < trials_.size(); ++i)
      for (uint64_t episode = 0; episode < std::min(kFilms, args_.episodes); ++episode) {
        const ScratchFolder scratch;
        EvaluationOrder order = OrderFor(trials_[i], envs_[i]);
        order.film = scratch.path() / "film.json";
        order.film_episode = episode;
        Send(trials_[i], order, scratch.path());
        const fs::path to = folder / fmt::format("{}-episode-{}.html", trials_[i].id, episode);
        ReportProgram().Ask("--film",
                            ToJson(FilmRequest{order.film, fmt::format("{}, episode {}", trials_[i].name, episode), to, {}}));
        films.push_back(to);
      }
    return films;
  }

  const Evaluated& evaluated() const { return evaluated_; }
  const std::vector<OneTrial>& trials() const { return trials_; }
  const std::vector<EvaluationEnv>& envs() const { return envs_; }

 private:
  EvaluationOrder OrderFor(const OneTrial& trial, const EvaluationEnv& env) const {
    EvaluationOrder order;
    order.checkpoint_dir = trial.folder.checkpoint();
    order.checkpoint = args_.checkpoint;
    order.env = env.plugin;
    order.env_options = env.options;
    order.episodes = args_.episodes, order.seed = args_.seed, order.threads = args_.threads;
    return order;
  }

  static void Send(const OneTrial& trial, const EvaluationOrder& order, const fs::path& folder) {
    const fs::path file = folder / "order.json";
    WriteFileAtomic(file, JsonText(ToJson(order)));
    RunTrialProcess(trial.folder.trial_json(), {"--evaluate", file.string()});
  }

  // Trials with the same env share their baselines.
  bool NeedsBaselines(const EvaluationEnv& env, const OneTrial& trial) {
    const fs::path& file = env.plugin ? env.plugin->file : trial.spec.env.file;
    return !args_.no_baselines && with_baselines_.insert(file.string() + env.options.dump()).second;
  }

  void PlayTrial(const OneTrial& trial, const EvaluationEnv& env, std::vector<EvaluatedRow>* baselines) {
    const ScratchFolder scratch;
    EvaluationOrder order = OrderFor(trial, env);
    order.answer = scratch.path() / "answer.json";
    for (const Factors& factors : factors_) order.plays.push_back({kLearnerPolicy, factors});
    if (NeedsBaselines(env, trial))
      for (const char* policy : {kZeroPolicy, kUniformPolicy}) order.plays.push_back({policy, {}});
    Send(trial, order, scratch.path());
    const std::optional<std::string> text = ReadFile(order.answer);
    if (!text) throw std::runtime_error("the trial's process wrote no answer");
    EvaluationAnswer answer = RecordFromJson<EvaluationAnswer>(nlohmann::json::parse(*text));
    for (size_t i = 0; i < order.plays.size() && i < answer.plays.size(); ++i) {
      if (answer.plays[i].returns.empty()) continue;  // there are no uniform actions
      const bool learned = order.plays[i].policy == kLearnerPolicy;
      EvaluatedRow row{learned ? trial.name.empty() ? trial.id : trial.name : std::string(),
                       order.plays[i].policy,
                       args_.checkpoint,
                       learned ? answer.iterations : std::nullopt,
                       env.differences,
                       order.plays[i].factors,
                       std::move(answer.plays[i])};
      if (row.episodes.capped > 0)
        LogWarning("warning: {} of {} episodes were truncated after {} steps (evaluation.max_episode_steps)",
                   row.episodes.capped, row.episodes.returns.size(), answer.cap);
      (learned ? evaluated_.rows : *baselines).push_back(std::move(row));
    }
  }

  const EvaluateArgs& args_;
  const std::vector<OneTrial> trials_;
  const std::vector<Factors> factors_;
  std::vector<EvaluationEnv> envs_;
  std::set<std::string> with_baselines_;
  Evaluated evaluated_;
};

void PrintText(const Evaluation& evaluation, const EvaluateArgs& args, const fs::path& folder) {
  fmt::print("{} episodes per row, greedy actions, seed {}\n", args.episodes, args.seed);
  std::set<std::string> printed;
  for (size_t i = 0; i < evaluation.trials().size(); ++i)
    for (const std::string& difference : evaluation.envs()[i].differences)
      if (printed.insert(difference).second) fmt::print("differs from the training: {}\n", difference);
  if (printed.empty()) fmt::print("the env is as in the training\n");
  fmt::print("\n{}\n{}\n", FormatTextTable(TableOf(evaluation.evaluated()), ReportWidth()), (folder / "episodes.csv").string());
}

// A window shows a film; without a display, the file's name is printed.
void Show(const std::vector<fs::path>& films) {
  const bool display = std::getenv("DISPLAY") != nullptr || std::getenv("WAYLAND_DISPLAY") != nullptr;
  for (const fs::path& film : films) {
    if (!display || !RunProcess({{"xdg-open", fs::absolute(film).string()}}).ok()) fmt::print("{}\n", film.string());
  }
}

int Evaluate(const EvaluateArgs& args) {
  std::vector<OneTrial> trials = OpenTrials(args.out, args.trials);
  for (const OneTrial& trial : trials) {
    for (const std::string& warning : trial.warnings) LogWarning("warning: {}", warning);
    if (trial.spec.experiment.HasCommand())
      throw std::runtime_error("trial " + trial.name +
                               ": learner: expected a plugin, got a command, whose episodes cannot be evaluated");
  }
  Evaluation evaluation(args, std::move(trials));
  evaluation.Play();
  const fs::path folder = FolderFor(args);
  fs::create_directories(folder);
  WriteFileAtomic(folder / "episodes.csv", CsvOf(evaluation.evaluated()));
  const std::string json = JsonText(JsonOf(evaluation.evaluated()), 2) + "\n";
  WriteFileAtomic(folder / "evaluation.json", json);
  if (args.json)
    fmt::print("{}", json);
  else
    PrintText(evaluation, args, folder);
  if (args.watch) Show(evaluation.Film(folder));
  return kOk;
}

int EvaluateOrFail(const EvaluateArgs& args) {
  try {
    return Evaluate(args);
  } catch (const ChangeError& e) {
    LogError("backplane evaluate: {}", e.what());
    return kUsage;
  }
}

void DeclareEnv(EvaluateArgs* args, Arguments* add) {
  add->Add("--set,-s", "env.options.NAME=VALUE", &args->change.set, "Option of the env that differs from the training");
  add->Add("--env", "PLUGIN", &args->change.env, "Different env with the same spaces, with its default options");
  add->Add("--perturb", "NAME=LOW..HIGH[:N],...", &args->perturb,
           "Scale parameters that the env declares, such as mass, one at a time");
  add->PluginPath(&args->change.plugin_path);
}

}  // namespace

Command EvaluateCommand() {
  const auto declare = [](EvaluateArgs* args, Arguments* add) {
    add->Out(&args->out, "Results folder");
    add->Add("trial", "TRIAL", &args->trials, "Trials or points, by name or start of an id (default: all)");
    add->Add("--episodes", "N", &args->episodes, "Episodes of each policy").Within(uint64_t{1}, kMostEpisodes).ShowsDefault();
    add->Add("--seed", "N", &args->seed, "Seed of the episodes; the seed of a trial repeats its evaluation").ShowsDefault();
    add->Add("--checkpoint", "best|last|start|N", &args->checkpoint,
             "Checkpoint: best, last, start (untrained), or after iteration N")
        .ShowsDefault();
    DeclareEnv(args, add);
    add->Flag("--no-baselines", &args->no_baselines, "Leave out zero and uniform actions");
    add->Add("--threads", "N", &args->threads, "Threads; results do not depend on them (default: all cores)");
    add->Flag("--watch", &args->watch, "Show the first episodes in a window, or write films without a display");
    add->Add("--to", "FOLDER", &args->to, "Folder for episodes.csv and evaluation.json (default: in OUT/evaluations)");
    add->Flag("--json", &args->json, "Print the results as JSON");
    add->Check([args] {
      const std::string why = WhyNoCheckpointName(args->checkpoint);
      return why.empty() ? ErrorOf(args->change) : why;
    });
  };
  return MakeCommand<EvaluateArgs>(kEvaluateCommand.name, kEvaluateCommand.help, declare, EvaluateOrFail);
}

}  // namespace backplane
