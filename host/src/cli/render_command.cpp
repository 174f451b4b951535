// render: one evaluation episode of a trial as a film.
#include <unistd.h>

#include <cstdio>
#include <stdexcept>

#include "base/files.hpp"
#include "base/scratch_folder.hpp"
#include "cli/commands.hpp"
#include "cli/one_trial.hpp"
#include "report/film_svg.hpp"
#include "supervise/outcome.hpp"

namespace backplane {
namespace {

constexpr size_t kShownLines = 5;  // of a log

Film Shoot(const OneTrial& trial, uint64_t episode) {
  const ScratchFolder place(trial.folder.folder / ("render-" + std::to_string(getpid())));
  const std::filesystem::path file = place.path() / "film.json";
  const ChildExit exit = RunForTrial(
      trial, {"run-trial", trial.folder.trial_json().string(), "--film", file.string(), "--episode", std::to_string(episode)},
      place.path());
  if (exit.signal != 0 || exit.code != 0) {
    std::string why;
    for (const std::string& line : LastLines(AttemptFolder(place.path()).standard_error(), kShownLines))
      why += (why.empty() ? "" : "\n") + line;
    if (!why.empty() && exit.signal == 0) throw std::runtime_error(why);
    throw std::runtime_error("the trial's process ended with " +
                             (exit.signal != 0 ? SignalName(exit.signal) : "exit code " + std::to_string(exit.code)) +
                             (why.empty() ? "" : "\n" + why));
  }
  const auto text = ReadFile(file);
  if (!text) throw std::runtime_error("the trial's process left no film");
  return RecordFromJson<Film>(nlohmann::json::parse(*text));
}

}  // namespace

int RenderCommand(const RenderArgs& args) {
  if (!args.to.empty() && args.to.extension() != ".svg") {
    std::fprintf(stderr, "backplane: --to: wanted a name that ends in .svg, as the film is an SVG that moves; found '%s'\n",
                 args.to.c_str());
    return kUsage;
  }
  const OneTrial trial = OpenTrial(args.out, args.trial);
  const std::filesystem::path to =
      args.to.empty() ? trial.folder.folder / ("episode-" + std::to_string(args.episode) + ".svg") : args.to;
  const Film film = Shoot(trial, args.episode);
  const std::string& experiment = trial.spec.experiment.name;
  WriteFileAtomic(to, FilmSvg(film, (trial.name.empty() ? experiment : experiment + ": " + trial.name) + ", episode " +
                                        std::to_string(args.episode)));
  std::string notes;
  for (const std::string& note : film.notes) notes += ", " + note;
  std::printf("%s: %zu steps%s\n", to.c_str(), film.frames.size() - 1, notes.c_str());
  return kOk;
}

}  // namespace backplane
