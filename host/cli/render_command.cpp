// render: one evaluation episode of a trial as a film.
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "base/files.hpp"
#include "base/scratch_folder.hpp"
#include "base/signal_text.hpp"
#include "cli/commands.hpp"
#include "cli/run_for_trial.hpp"
#include "contract/checkpoint_files.hpp"
#include "input/report_program.hpp"
#include "log/log.hpp"
#include "record/attempt_json.hpp"
#include "record/film.hpp"
#include "record/report_requests.hpp"

namespace backplane {
namespace {

struct RenderArgs {
  std::filesystem::path out;
  std::string trial;  // as for replay; empty: the only one of the folder
  std::string episode = "0", checkpoint = std::string(kLastCheckpoint);
  std::filesystem::path to;  // empty: in the trial's folder
};

constexpr size_t kShownLines = 5;  // of a log

struct Episode {
  uint64_t number = 0;             // of an evaluation
  std::string name;                // "episode 3, the best of 10"
  std::optional<double> recorded;  // its return in the trial's record
};

bool IsRank(const std::string& word) { return word == "best" || word == "worst" || word == "median"; }

std::optional<uint64_t> Number(const std::string& word) {
  uint32_t number = 0;
  const char* const end = word.data() + word.size();
  const auto read = std::from_chars(word.data(), end, number);
  return read.ec == std::errc() && read.ptr == end ? std::optional<uint64_t>(number) : std::nullopt;
}

// The first episode of that rank. The median of an even number is the lower one of the middle two. An episode without a return
// is the worst.
uint64_t OfRank(const std::string& rank, const std::vector<double>& returns) {
  std::vector<uint64_t> order(returns.size());
  std::iota(order.begin(), order.end(), uint64_t{0});
  const auto value = [&](uint64_t i) { return std::isnan(returns[i]) ? -std::numeric_limits<double>::infinity() : returns[i]; };
  std::stable_sort(order.begin(), order.end(), [&](uint64_t a, uint64_t b) { return value(a) < value(b); });
  if (rank == "worst") return order.front();
  if (rank == "median") return order[(order.size() - 1) / 2];
  return *std::find_if(order.begin(), order.end(), [&](uint64_t i) { return value(i) == value(order.back()); });
}

Episode Choose(const OneTrial& trial, const std::string& which, const std::string& checkpoint) {
  const uint64_t episodes = trial.spec.experiment.evaluation.episodes;
  const AttemptFolder attempt = trial.folder.attempt(trial.folder.LastAttempt());
  const std::vector<double> returns = ReadResult(attempt).evaluation_returns;
  Episode chosen;
  if (IsRank(which)) {
    if (returns.empty())
      throw std::runtime_error(
          "--episode " + which + ": trial " + trial.name +
          (episodes == 0 ? " has no evaluation (evaluation.episodes)\nhint: --episode 0 films the first episode that an "
                           "evaluation would play"
                         : ": expected the returns of the evaluation's episodes, got none in " + attempt.result().string() +
                               "\nhint: the trial has not ended, or an older version ran it; --episode 0 to " +
                               std::to_string(episodes - 1) + " films one episode"));
    chosen.number = OfRank(which, returns);
    chosen.name = ", the " + which + " of " + std::to_string(returns.size());
  } else {
    chosen.number = Number(which).value();
    if (episodes > 0 && chosen.number >= episodes)
      throw std::runtime_error("--episode: trial " + trial.name + " evaluates " + std::to_string(episodes) +
                               " episodes: expected 0 to " + std::to_string(episodes - 1) + ", got " + which);
  }
  chosen.name = "episode " + std::to_string(chosen.number) + chosen.name;
  if (checkpoint != kLastCheckpoint)
    chosen.name += checkpoint == kBestCheckpoint ? " of the best policy" : " after iteration " + checkpoint;
  else if (chosen.number < returns.size())
    chosen.recorded = returns[chosen.number];
  return chosen;
}

// Leaves the episode's pictures in film.json of the folder.
std::filesystem::path Shoot(const OneTrial& trial, uint64_t episode, const std::string& checkpoint,
                            const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "film.json";
  const ChildExit exit = RunForTrial(trial,
                                     {"run-trial", trial.folder.trial_json().string(), "--film", file.string(), "--episode",
                                      std::to_string(episode), "--checkpoint", checkpoint},
                                     folder);
  if (exit.signal != 0 || exit.code != 0) {
    std::string why;
    for (const std::string& line : LastLines(AttemptFolder(folder).standard_error(), kShownLines))
      why += (why.empty() ? "" : "\n") + line;
    if (!why.empty() && exit.signal == 0) throw std::runtime_error(why);
    throw std::runtime_error("the trial's process ended with " +
                             (exit.signal != 0 ? SignalText(exit.signal) : "exit code " + std::to_string(exit.code)) +
                             (why.empty() ? "" : "\n" + why));
  }
  if (!std::filesystem::exists(file)) throw std::runtime_error("the trial's process wrote no film");
  return file;
}

// Returns an error of the arguments, or nothing.
std::string WhyNotFilmed(const RenderArgs& args) {
  if (!IsRank(args.episode) && !Number(args.episode))
    return "--episode: expected best, worst, median or a whole number, got '" + args.episode + "'";
  if (std::string why = WhyNoCheckpointName(args.checkpoint); !why.empty()) return why;
  if (args.checkpoint != kLastCheckpoint && IsRank(args.episode))
    return "--episode: only returns of the last policy are recorded: expected a number with --checkpoint " + args.checkpoint +
           ", got " + args.episode;
  std::string endings;
  for (const char* ending : kFilmEndings) {
    if (args.to.empty() || args.to.extension() == ending) return "";
    endings += (endings.empty() ? "" : ", ") + std::string(ending);
  }
  return "--to: expected a name that ends in one of " + endings + ", got '" + args.to.string() + "'";
}

int RenderCommand(const RenderArgs& args) {
  const OneTrial trial = OpenTrialWithWarnings(args.out, args.trial);
  if (trial.spec.experiment.HasCommand())
    throw std::runtime_error("trial " + trial.name +
                             ": learner: expected a plugin, got a command, whose episodes cannot be filmed");
  const Episode episode = Choose(trial, args.episode, args.checkpoint);
  const std::filesystem::path to = args.to.empty() ? trial.folder.film(episode.number) : args.to;
  const ScratchFolder scratch(trial.folder.folder / ("render-" + std::to_string(getpid())));
  const std::filesystem::path film = Shoot(trial, episode.number, args.checkpoint, scratch.path());
  const std::string& experiment = trial.spec.experiment.name;
  const std::string title = trial.name.empty() ? experiment : experiment + ": " + trial.name;
  return ReportProgram().Show("--film", ToJson(FilmRequest{film, title + ", " + episode.name, to, episode.recorded}));
}

}  // namespace

std::vector<Command> RenderCommands() {
  const auto declare = [](RenderArgs* args, Arguments* add) {
    add->Out(&args->out, "Results folder");
    add->Add("trial", "TRIAL", &args->trial, "Trial name, id or start of the id; needed if there are several");
    add->Add("--episode", "best|worst|median|N", &args->episode,
             "Episode of the last evaluation, by return or by number from 0")
        .ShowsDefault();
    add->Add("--checkpoint", "last|best|N", &args->checkpoint, "Policy to play: the last, the best, or after N iterations")
        .ShowsDefault();
    add->Add("--to", "FILE", &args->to,
             "File to write instead of the trial's episode-N.svg: .svg, .html with controls, .gif or .webm");
    add->Check([args] { return WhyNotFilmed(*args); });
  };
  return {MakeCommand<RenderArgs>("render", "Render an evaluation episode as a film", declare, RenderCommand)};
}

}  // namespace backplane
