#include "cli/parse.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>

#include "cli/parse_parts.hpp"
#include "trial/contract.hpp"

namespace backplane {

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
  app->add_option(
         "--preset", args->preset,
         "Settings for a kind of machine, under --set: a name in presets/ near the file or of the installation, a path, "
         "or auto, which chooses by the device found")
      ->type_name("NAME");
  AddPluginPath(app, &args->plugin_path);
}

namespace {

void AddConfig(CLI::App* root, Arguments* args) {
  CLI::App* config = root->add_subcommand("config", "Check or show an experiment file")->require_subcommand(1);
  CLI::App* check =
      config->add_subcommand("check", "Report every error of a file at once, also what its plugins have against their options");
  AddFile(check, &args->check.input);
  check
      ->add_option("--sweep", args->check.sweep,
                   "An axis of the sweep: path=1,2,4, path=range(1,9,2) or path=choice(a,b); may be repeated")
      ->type_name("PATH=VALUES")
      ->allow_extra_args(false);
  check->add_flag("--file-only", args->check.file_only, "Run no plugin code, which takes a second where one needs LibTorch");
  check->callback([args] { args->chosen = [args] { return ConfigCheckCommand(args->check); }; });
  CLI::App* show = config->add_subcommand("show", "Print what a file sets, after base files and --set");
  AddFile(show, &args->show.input);
  show->add_flag("--resolved", args->show.resolved, "With every default");
  show->add_flag("--origin", args->show.origin, "With the file, line and column each value comes from");
  show->callback([args] { args->chosen = [args] { return ConfigShowCommand(args->show); }; });
  CLI::App* schema =
      config->add_subcommand("schema", "Print a JSON Schema of experiment files, with the options of all plugins");
  AddPluginPath(schema, &args->plugin.plugin_path);
  schema->add_flag("--markdown", args->plugin.markdown, "Print a table of the host's own keys as Markdown instead");
  schema->callback([args] { args->chosen = [args] { return ConfigSchemaCommand(args->plugin); }; });
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
  CLI::Option* json = describe->add_flag("--json", args->plugin.json, "Print JSON");
  describe->add_flag("--markdown", args->plugin.markdown, "Print the table of its options as Markdown")->excludes(json);
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
  args.run.typed_program = args.bench.typed_program = args.tune.typed_program = args.report.typed_program =
      argc > 0 ? TypedProgram(argv[0]) : "backplane";
  AddTrialCommands(&root, &args);
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
