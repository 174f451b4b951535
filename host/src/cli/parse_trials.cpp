#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <sstream>

#include "base/suggest.hpp"
#include "cli/parse_parts.hpp"
#include "config/units.hpp"

namespace backplane {
namespace {

std::vector<std::string> SplitCommas(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) parts.push_back(part);
  return parts;
}

std::vector<unsigned> Numbers(const std::string& option, const std::string& text) {
  std::vector<unsigned> numbers;
  for (const std::string& part : SplitCommas(text)) {
    if (part.empty() || part.size() > 4 || part.find_first_not_of("0123456789") != std::string::npos)
      throw CLI::ValidationError(option, "wanted numbers such as 0,1,2, found '" + text + "'");
    numbers.push_back(static_cast<unsigned>(std::stoul(part)));
  }
  return numbers;
}

std::set<std::string> Classes(const std::string& text) {
  const std::vector<std::string> known = {"oom", "nan", "timeout", "signal", "plugin", "config", "temp"};
  std::set<std::string> classes;
  for (const std::string& part : SplitCommas(text)) {
    if (std::find(known.begin(), known.end(), part) == known.end())
      throw CLI::ValidationError("--only-failed", "unknown class '" + part + "'" +
                                                      DidYouMean(Nearest(part, Candidates(known))) +
                                                      "; there are oom, nan, timeout, signal, plugin, config, temp");
    classes.insert(part);
  }
  return classes;
}

void AddRun(CLI::App* root, Arguments* args) {
  CLI::App* run = root->add_subcommand("run", "Run an experiment, or go on with it");
  AddFile(run, &args->run.input);
  run->add_option(
         "--sweep", args->run.sweep,
         "Make a path an axis: path=1,2,4, path=range(1,9,2), path=choice(a,b); point:path=1,2 of one point alone; may be "
         "repeated")
      ->type_name("[POINT:]PATH=VALUES")
      ->allow_extra_args(false);
  run->add_option("--out", args->run.out, "Results folder instead of output.dir")->type_name("DIR");
  run->add_flag("--dry-run", args->run.dry_run, "Print the trials, what they would be granted and an estimate; start nothing");
  run->add_flag("--fresh", args->run.fresh, "Move old results to DIR.1 and start anew");
  CLI::Option* only_failed = run->add_option("--only-failed", args->only_failed,
                                             "Run failed trials again and nothing else; of these classes: nan,signal,...")
                                 ->type_name("[CLASS,...]")
                                 ->expected(0, 1);
  run->add_flag("--only-damaged", args->run.only_damaged,
                "Run finished trials whose files are missing, shorter or altered again, and nothing else")
      ->excludes(only_failed);
  run->add_flag("--accept-change", args->run.accept_change,
                "Run finished points again whose plugin or data files have changed");
  run->add_flag("--skip-invalid", args->run.skip_invalid, "Leave out the points that their plugins refuse, run the rest");
  run->add_option(
         "--apply", args->run.apply,
         "Make the first change that a finding of the results' report proposes; a change that is not swept runs in OUT_try")
      ->type_name("FINDING");
  run->add_option("--jobs", args->jobs, "Trials at once, at most; the cores are shared out among them")
      ->type_name("N")
      ->check(CLI::Range(1u, 4096u));
  run->add_option("--gpus", args->gpus, "Use these GPUs only, by number, one for each trial: 0,1,2")->type_name("LIST");
  run->add_flag("--json", args->run.json, "Print the result as JSON");
  run->add_flag("--quiet", args->run.quiet, "No progress; one line at the end");
  run->callback([args, only_failed] {
    if (only_failed->count() > 0) args->run.only_failed = Classes(args->only_failed);
    if (args->jobs > 0) args->run.jobs = args->jobs;
    if (!args->gpus.empty()) args->run.gpus = Numbers("--gpus", args->gpus);
    args->chosen = [args] { return RunCommand(args->run); };
  });
}

void AddBench(CLI::App* root, Arguments* args) {
  CLI::App* bench = root->add_subcommand(
      "bench", "How fast an experiment runs on this machine, where its time goes, and which setting is faster");
  AddFile(bench, &args->bench.input);
  bench->add_flag("--all", args->bench.all,
                  "The machine, and what limits the experiment as it is: beside --batch, too; the default without --batch");
  CLI::Option* batch = bench->add_option("--batch", args->bench_rows, "Speed by envs of a runner: 1,4,16,64,256 unless given")
                           ->type_name("[N,...]")
                           ->expected(0, 1);
  bench->add_option("--seconds", args->bench.seconds, "Training time of each trial")
      ->type_name("S")
      ->capture_default_str()
      ->check(CLI::Range(0.1, 86400.0));
  bench->add_option("--seeds", args->bench.seeds, "Trials of each setting; three or more tell noise from a difference")
      ->type_name("N")
      ->capture_default_str()
      ->check(CLI::Range(uint64_t{1}, uint64_t{1000}));
  bench
      ->add_option("--out", args->bench.out,
                   "Results folder instead of outputs/bench_EXPERIMENT; DIR.yaml runs the bench again")
      ->type_name("DIR");
  bench->add_flag("--json", args->bench.json, "Print the result as JSON");
  bench->callback([args, batch] {
    args->bench.batch = batch->count() > 0;
    if (!args->bench_rows.empty()) {
      for (const unsigned n : Numbers("--batch", args->bench_rows)) args->bench.rows.push_back(n);
    }
    args->chosen = [args] { return BenchCommand(args->bench); };
  });
}

void AddTune(CLI::App* root, Arguments* args) {
  CLI::App* tune = root->add_subcommand(
      "tune", "Make an experiment faster: try what its findings propose one at a time, keep what gains, check the learning");
  AddFile(tune, &args->tune.input);
  tune->add_option("--for", args->tune.measure, "The measure to gain in: a speed, or another one above zero")
      ->type_name("MEASURE")
      ->capture_default_str();
  tune->add_option("--budget", args->tune_budget, "Time for the measurements, such as 10m; the check of learning is beside it")
      ->type_name("TIME")
      ->default_str("10m");
  tune->add_option("--point", args->tune.point,
                   "The point of the file's sweep to tune; the experiment without its sweep, or the first point that has an "
                   "option to change, unless given")
      ->type_name("NAME");
  tune->add_option("--seconds", args->tune.seconds, "Training time of each trial; longer where an iteration is")
      ->type_name("S")
      ->capture_default_str()
      ->check(CLI::Range(0.1, 86400.0));
  tune->add_option("--seeds", args->tune.seeds, "Trials of each side of a measurement")
      ->type_name("N")
      ->capture_default_str()
      ->check(CLI::Range(uint64_t{3}, uint64_t{1000}));
  CLI::Option* no_check = tune->add_flag("--no-check", args->tune.no_check, "Do not compare what is learned");
  tune->add_option("--check-steps", args->tune.check_steps,
                   "Env steps of each trial of the check of learning; else the experiment's budget, up to two minutes of it")
      ->type_name("N")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 60))
      ->excludes(no_check);
  tune->add_option("--check-metric", args->tune.check_measure,
                   "The measure that must not get worse; eval/return, or return without evaluations, unless given")
      ->type_name("MEASURE")
      ->excludes(no_check);
  tune->add_option("--out", args->tune.out, "Results folder instead of outputs/EXPERIMENT_tune")->type_name("DIR");
  tune->add_flag("--dry-run", args->tune.dry_run, "Print what would be measured and for how long; start nothing");
  tune->add_flag("--fresh", args->tune.fresh, "Move an older tuning to DIR.1 and start anew");
  tune->add_flag("--json", args->tune.json, "Print the result as JSON");
  tune->callback([args] {
    if (!args->tune_budget.empty()) {
      const std::optional<double> seconds = ParseDuration(args->tune_budget);
      if (!seconds || *seconds <= 0)
        throw CLI::ValidationError("--budget", "wanted a time such as 10m or 90s, found '" + args->tune_budget + "'");
      args->tune.budget_s = *seconds;
    }
    args->chosen = [args] { return TuneCommand(args->tune); };
  });
}

void AddReplay(CLI::App* root, Arguments* args) {
  CLI::App* replay = root->add_subcommand("replay", "Run one trial of a results folder again and compare it with its record");
  replay->add_option("out", args->replay.out, "Results folder")->type_name("OUT")->required();
  replay->add_option("trial", args->replay.trial, "Trial id or the beginning of it, or the trial's name")
      ->type_name("TRIAL")
      ->required();
  replay->add_flag("--gdb", args->replay.gdb, "Under gdb");
  replay->callback([args] { args->chosen = [args] { return ReplayCommand(args->replay); }; });
}

void AddRender(CLI::App* root, Arguments* args) {
  CLI::App* render = root->add_subcommand("render", "Write an evaluation episode of one trial as a film: an SVG that moves");
  render->add_option("out", args->render.out, "Results folder")->type_name("OUT")->required();
  render->add_option("trial", args->render.trial, "Trial id or the beginning of it, or the trial's name, if there are several")
      ->type_name("TRIAL");
  render->add_option("--episode", args->render.episode, "Which one, from 0: the start that an evaluation's episode N has")
      ->type_name("N")
      ->check(CLI::Range(uint64_t{0}, uint64_t{UINT32_MAX}));
  render->add_option("--to", args->render.to, "File to write instead of episode-N.svg in the trial's folder")
      ->type_name("FILE");
  render->callback([args] { args->chosen = [args] { return RenderCommand(args->render); }; });
}

void AddRunTrial(CLI::App* root, Arguments* args) {
  CLI::App* trial =
      root->add_subcommand("run-trial", "Run one prepared trial in this process (what `run` starts for each trial)");
  trial->add_option("trial_json", args->trial.trial_jsons, "trial.json of a results folder; several with --check")
      ->type_name("FILE")
      ->required();
  CLI::Option* check =
      trial->add_flag("--check", args->trial.task.check, "Only try whether the plugins take their options and fit together");
  CLI::Option* film =
      trial->add_option("--film", args->trial.task.film, "Only play an evaluation episode and write its pictures, as JSON")
          ->type_name("FILE")
          ->excludes(check);
  trial->add_option("--episode", args->trial.task.episode, "Which one, from 0")->type_name("N")->needs(film);
  trial->callback([args] {
    if (args->trial.trial_jsons.size() > 1 && !args->trial.task.check)
      throw CLI::ValidationError("run-trial", "one trial.json at a time, except with --check");
    args->chosen = [args] {
      // A plugin that asks for input would wait for ever, also when a person starts a trial at a terminal.
      if (std::freopen("/dev/null", "r", stdin) == nullptr) {
        std::fclose(stdin);
      }
      const int code = RunTrial(args->trial.trial_jsons, args->trial.task);
      std::fflush(nullptr);
      // Plugins are never unloaded: their destructors at exit could still crash a trial that has already ended well.
      _exit(code);
      return code;
    };
  });
}

}  // namespace

void AddTrialCommands(CLI::App* root, Arguments* args) {
  AddRun(root, args);
  AddBench(root, args);
  AddTune(root, args);
  AddRunTrial(root, args);
  AddReplay(root, args);
  AddRender(root, args);
}

}  // namespace backplane
