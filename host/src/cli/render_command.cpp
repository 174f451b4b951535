// render: one evaluation episode of a trial as a film.
#include <unistd.h>

#include <cstdio>
#include <stdexcept>

#include "base/files.hpp"
#include "base/scratch_folder.hpp"
#include "cli/commands.hpp"
#include "cli/one_trial.hpp"
#include "cli/report_program.hpp"
#include "log/log.hpp"
#include "record/report_requests.hpp"
#include "supervise/outcome.hpp"

namespace backplane {
namespace {

struct RenderArgs {
  std::filesystem::path out;
  std::string trial;         // as for replay; empty: the only one of the folder
  uint64_t episode = 0;      // of an evaluation
  std::filesystem::path to;  // empty: in the trial's folder
};

constexpr size_t kShownLines = 5;  // of a log

// Leaves the episode's pictures in film.json of the folder.
std::filesystem::path Shoot(const OneTrial& trial, uint64_t episode, const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "film.json";
  const ChildExit exit = RunForTrial(
      trial, {"run-trial", trial.folder.trial_json().string(), "--film", file.string(), "--episode", std::to_string(episode)},
      folder);
  if (exit.signal != 0 || exit.code != 0) {
    std::string why;
    for (const std::string& line : LastLines(AttemptFolder(folder).standard_error(), kShownLines))
      why += (why.empty() ? "" : "\n") + line;
    if (!why.empty() && exit.signal == 0) throw std::runtime_error(why);
    throw std::runtime_error("the trial's process ended with " +
                             (exit.signal != 0 ? SignalName(exit.signal) : "exit code " + std::to_string(exit.code)) +
                             (why.empty() ? "" : "\n" + why));
  }
  if (!std::filesystem::exists(file)) throw std::runtime_error("the trial's process left no film");
  return file;
}

int RenderCommand(const RenderArgs& args) {
  if (!args.to.empty() && args.to.extension() != ".svg") {
    LogError("backplane: --to: wanted a name that ends in .svg, as the film is an SVG that moves; found '{}'",
             args.to.string());
    return kUsage;
  }
  const OneTrial trial = OpenTrial(args.out, args.trial);
  const std::filesystem::path to =
      args.to.empty() ? trial.folder.folder / ("episode-" + std::to_string(args.episode) + ".svg") : args.to;
  const ScratchFolder scratch(trial.folder.folder / ("render-" + std::to_string(getpid())));
  const std::filesystem::path film = Shoot(trial, args.episode, scratch.path());
  const std::string& experiment = trial.spec.experiment.name;
  const std::string title = trial.name.empty() ? experiment : experiment + ": " + trial.name;
  return ReportProgram().Show("--film", ToJson(FilmRequest{film, title + ", episode " + std::to_string(args.episode), to}));
}

}  // namespace

std::vector<Command> RenderCommands() {
  const auto declare = [](RenderArgs* args, Arguments* add) {
    add->Out(&args->out, "Results folder");
    add->Add("trial", "TRIAL", &args->trial, "Trial id or the beginning of it, or the trial's name, if there are several");
    add->Add("--episode", "N", &args->episode, "Which one, from 0: the start that an evaluation's episode N has")
        .Within(uint64_t{0}, uint64_t{UINT32_MAX});
    add->Add("--to", "FILE", &args->to, "File to write instead of episode-N.svg in the trial's folder");
  };
  return {MakeCommand<RenderArgs>("render", "Write an evaluation episode of one trial as a film: an SVG that moves", declare,
                                  RenderCommand)};
}

}  // namespace backplane
