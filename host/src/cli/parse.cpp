// The only file that includes CLI11: it costs several seconds of compile time wherever it stands.
#include "cli/parse.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <functional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/suggest.hpp"
#include "cli/commands.hpp"
#include "trial/contract.hpp"
#include "trial/run_trial.hpp"

namespace backplane {
namespace {

struct TrialArgs {
  std::filesystem::path trial_json;
  bool check = false;
  TrialTask task;
};

struct Arguments {
  RunArgs run;
  std::string only_failed, gpus;  // of run, as typed
  unsigned jobs = 0;              // of run; 0: not given
  ReplayArgs replay;
  RenderArgs render;
  TrialArgs trial;
  ConfigCheckArgs check;
  ConfigShowArgs show;
  PluginArgs plugin;
  BatchArgs watch, rebuild;
  StatusArgs status;
  StopArgs stop;
  ReportArgs report;
  ExportArgs exported;
  DoctorArgs doctor;
  std::function<int()> chosen;
};

void AddPluginPath(CLI::App* app, std::vector<std::string>* target) {
  app->add_option("--plugin-path", *target, "Folder to look for plugins in, too; may be repeated")
      ->type_name("DIR")
      ->allow_extra_args(false);
}

void AddFile(CLI::App* app, FileArgs* args) {
  app->add_option("file", args->file, "Experiment file (YAML)")->type_name("FILE")->required();
  app->add_option("--set", args->set, "Set a value, path=value; +path=value adds a key the file lacks; may be repeated")
      ->type_name("PATH=VALUE")
      ->allow_extra_args(false);
  AddPluginPath(app, &args->plugin_path);
}

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
  run->add_flag("--accept-change", args->run.accept_change,
                "Run finished points again whose plugin or data files have changed");
  run->add_flag("--skip-invalid", args->run.skip_invalid, "Leave out pairs of env and learner that do not fit, run the rest");
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
  trial->add_option("trial_json", args->trial.trial_json, "trial.json of a results folder")->type_name("FILE")->required();
  CLI::Option* check = trial->add_flag("--check", args->trial.check, "Only try whether env and learner fit together");
  CLI::Option* film =
      trial->add_option("--film", args->trial.task.film, "Only play an evaluation episode and write its pictures, as JSON")
          ->type_name("FILE")
          ->excludes(check);
  trial->add_option("--episode", args->trial.task.episode, "Which one, from 0")->type_name("N")->needs(film);
  trial->callback([args] {
    args->chosen = [args] {
      // A plugin that asks for input would wait for ever, also when a person starts a trial at a terminal.
      if (std::freopen("/dev/null", "r", stdin) == nullptr) {
        std::fclose(stdin);
      }
      using Kind = TrialTask::Kind;
      TrialTask& task = args->trial.task;
      task.kind = args->trial.check ? Kind::kCheck : !task.film.empty() ? Kind::kFilm : Kind::kRun;
      const int code = RunTrial(args->trial.trial_json, task);
      std::fflush(nullptr);
      // Plugins are never unloaded: their destructors at exit could still crash a trial that has already ended well.
      _exit(code);
      return code;
    };
  });
}

void AddConfig(CLI::App* root, Arguments* args) {
  CLI::App* config =
      root->add_subcommand("config", "Check or show an experiment file; no plugin code runs")->require_subcommand(1);
  CLI::App* check = config->add_subcommand("check", "Report every error of a file at once");
  AddFile(check, &args->check.input);
  check
      ->add_option("--sweep", args->check.sweep,
                   "An axis of the sweep: path=1,2,4, path=range(1,9,2) or path=choice(a,b); may be repeated")
      ->type_name("PATH=VALUES")
      ->allow_extra_args(false);
  check->callback([args] { args->chosen = [args] { return ConfigCheckCommand(args->check); }; });
  CLI::App* show = config->add_subcommand("show", "Print what a file sets, after base files and --set");
  AddFile(show, &args->show.input);
  show->add_flag("--resolved", args->show.resolved, "With every default");
  show->add_flag("--origin", args->show.origin, "With the file, line and column each value comes from");
  show->callback([args] { args->chosen = [args] { return ConfigShowCommand(args->show); }; });
  CLI::App* schema =
      config->add_subcommand("schema", "Print a JSON Schema of experiment files, with the options of all plugins");
  AddPluginPath(schema, &args->check.input.plugin_path);
  schema->callback([args] { args->chosen = [args] { return ConfigSchemaCommand(args->check.input.plugin_path); }; });
}

void AddPlugin(CLI::App* root, Arguments* args) {
  CLI::App* plugin =
      root->add_subcommand("plugin", "List, describe or seal plugins; no plugin code runs")->require_subcommand(1);
  CLI::App* list = plugin->add_subcommand("list", "All plugins on the plugin path");
  list->add_flag("--json", args->plugin.json, "Print JSON");
  AddPluginPath(list, &args->plugin.plugin_path);
  list->callback([args] { args->chosen = [args] { return PluginListCommand(args->plugin); }; });
  CLI::App* describe = plugin->add_subcommand("describe", "The options of one plugin");
  describe->add_option("id", args->plugin.name, "Plugin id, with or without its kind")->type_name("ID")->required();
  describe->add_flag("--json", args->plugin.json, "Print JSON");
  AddPluginPath(describe, &args->plugin.plugin_path);
  describe->callback([args] { args->chosen = [args] { return PluginDescribeCommand(args->plugin); }; });
  CLI::App* seal = plugin->add_subcommand("seal", "Write a plugin's description into its file (the build does this)");
  seal->add_option("file", args->plugin.name, "Plugin file (.so)")->type_name("FILE")->required();
  seal->callback([args] { args->chosen = [args] { return PluginSealCommand(args->plugin); }; });
}

void AddOut(CLI::App* app, std::filesystem::path* out) {
  app->add_option("out", *out, "Results folder of an experiment")->type_name("OUT")->required();
}

void AddBatch(CLI::App* root, Arguments* args) {
  CLI::App* status = root->add_subcommand("status", "How far a batch is, now or after it ended");
  AddOut(status, &args->status.out);
  status->add_flag("--json", args->status.json, "Print JSON, as in progress.json");
  status->callback([args] { args->chosen = [args] { return StatusCommand(args->status); }; });
  CLI::App* watch = root->add_subcommand("watch", "The same, live until the batch ends; Ctrl-C leaves the batch alone");
  AddOut(watch, &args->watch.out);
  watch->callback([args] { args->chosen = [args] { return WatchCommand(args->watch); }; });
  CLI::App* stop = root->add_subcommand("stop", "Stop a batch: its trials save a checkpoint, `run` goes on from there");
  AddOut(stop, &args->stop.out);
  stop->add_flag("--now", args->stop.now, "Kill its trials instead");
  stop->callback([args] { args->chosen = [args] { return StopCommand(args->stop); }; });
}

void AddStore(CLI::App* root, Arguments* args) {
  CLI::App* store = root->add_subcommand("store", "The tables of a batch, OUT/results.sqlite")->require_subcommand(1);
  CLI::App* rebuild = store->add_subcommand("rebuild", "Make them anew from the events and the trials' files");
  AddOut(rebuild, &args->rebuild.out);
  rebuild->callback([args] { args->chosen = [args] { return StoreRebuildCommand(args->rebuild); }; });
  CLI::App* report = root->add_subcommand("report", "Write the report of finished experiments: figures, tables, findings");
  report->add_option("out", args->report.folders, "Results folders; several are combined")->type_name("OUT");
  report->add_option("--to", args->report.to, "Folder to write to, instead of output.report_dir or OUT/report")
      ->type_name("DIR");
  report->add_option("--kind", args->report.kind, "parallel_efficiency or comparison, instead of report.kind")
      ->type_name("KIND")
      ->check(CLI::IsMember({"parallel_efficiency", "comparison"}));
  report->add_option("--explain", args->report.explain, "Explain a finding by its id; `list` names them all")->type_name("ID");
  report->add_flag("--json", args->report.json, "Print the report as JSON");
  report->add_flag("--quiet", args->report.quiet, "One line at the end");
  report->callback([args] { args->chosen = [args] { return ReportCommand(args->report); }; });
  CLI::App* exported = root->add_subcommand("export", "The results in another form")->require_subcommand(1);
  struct Format {
    const char *name, *help, *to, *to_type;
    bool to_required;
  };
  const Format formats[] = {
      {"csv", "A table with a row per trial", "File to write instead of standard output", "FILE", false},
      {"tb", "TensorBoard event files, a folder per trial", "Folder to write to instead of OUT/tb", "FOLDER", false},
      {"sqlite", "A copy of results.sqlite that is whole in one file", "File to write", "FILE", true},
      {"optuna", "A journal for Optuna (not served yet)", "File to write", "FILE", false}};
  for (const Format& one : formats) {
    CLI::App* format = exported->add_subcommand(one.name, one.help);
    AddOut(format, &args->exported.out);
    format->add_option("--to", args->exported.to, one.to)->type_name(one.to_type)->required(one.to_required);
    format->callback([args, name = std::string(one.name)] {
      args->exported.format = name;
      args->chosen = [args] { return ExportCommand(args->exported); };
    });
  }
}

void AddDoctor(CLI::App* root, Arguments* args) {
  CLI::App* doctor = root->add_subcommand("doctor", "What was found on this machine, and what to do about the rest");
  doctor->add_flag("--json", args->doctor.json, "Print JSON");
  AddPluginPath(doctor, &args->doctor.plugin_path);
  doctor->callback([args] { args->chosen = [args] { return DoctorCommand(args->doctor); }; });
}

std::vector<std::string> CommandNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

std::vector<std::string> OptionNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      names.push_back("--" + name);
    }
  }
  return names;
}

// The sentence for a mistyped command or option; empty if the error is another one. CLI11 only says "A subcommand is required".
std::string ExplainTypo(const CLI::App& root, int argc, char** argv) {
  const CLI::App* at = &root;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const std::vector<std::string> commands = CommandNames(*at), options = OptionNames(*at);
    const auto known = [](const std::vector<std::string>& names, const std::string& name) {
      return std::find(names.begin(), names.end(), name) != names.end();
    };
    if (word.starts_with("--") && word.size() > 2) {
      const std::string name = word.substr(0, word.find('='));
      if (!known(options, name)) {
        return "unknown option '" + name + "'" + DidYouMean(Nearest(name, Candidates(options)));
      }
    } else if (!word.starts_with("-") && known(commands, word)) {
      at = at->get_subcommand(word);
    } else if (!word.starts_with("-") && !commands.empty()) {
      return "unknown command '" + word + "'" + DidYouMean(Nearest(word, Candidates(commands)));
    }
  }
  return "";
}

int Complain(CLI::App& root, const CLI::ParseError& error, int argc, char** argv) {
  if (error.get_exit_code() == 0) {
    return root.exit(error);  // --help, --version
  }
  const std::string typo = ExplainTypo(root, argc, argv);
  std::fprintf(stderr, "backplane: %s\n(`backplane --help` and `backplane COMMAND --help` list what there is)\n",
               (typo.empty() ? std::string(error.what()) : typo).c_str());
  return argc > 1 && std::string(argv[1]) == "run-trial" ? static_cast<int>(kExitUsage) : static_cast<int>(kUsage);
}

// From where the person stands, if that is shorter.
std::string TypedProgram(const std::filesystem::path& program) {
  if (!program.is_absolute()) return program.string();
  std::error_code error;
  const std::filesystem::path near = std::filesystem::proximate(program, error);
  return !error && near.string().size() < program.string().size() ? near.string() : program.string();
}

}  // namespace

int Main(int argc, char** argv) {
  CLI::App root{"Backplane runs experiments: an env, a learner and monitors, each a plugin, named in a YAML file.",
                "backplane"};
  root.require_subcommand(1);
  root.set_version_flag("--version", BACKPLANE_VERSION);
  Arguments args;
  args.run.typed_program = args.report.typed_program = argc > 0 ? TypedProgram(argv[0]) : "backplane";
  AddRun(&root, &args);
  AddRunTrial(&root, &args);
  AddReplay(&root, &args);
  AddRender(&root, &args);
  AddConfig(&root, &args);
  AddBatch(&root, &args);
  AddStore(&root, &args);
  AddPlugin(&root, &args);
  AddDoctor(&root, &args);
  try {
    root.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return Complain(root, error, argc, argv);
  }
  try {
    const int code = args.chosen();
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
    std::fprintf(stderr, "backplane: the output could not be written: %s\n", std::strerror(errno));
    return code == kOk ? static_cast<int>(kFailed) : code;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "backplane: %s\n", error.what());
    return kFailed;
  }
}

}  // namespace backplane
