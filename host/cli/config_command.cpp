#include <algorithm>
#include <optional>
#include <stdexcept>

#include "cli/commands.hpp"
#include "cli/plugin_check.hpp"
#include "cli/reference_text.hpp"
#include "contract/schema.hpp"
#include "input/load_file.hpp"
#include "input/preset_places.hpp"
#include "log/log.hpp"
#include "sweep/json_schema.hpp"
#include "yaml/yaml_text.hpp"

namespace backplane {
namespace {

struct CheckArgs {
  FileArgs input;
  std::vector<std::string> sweep;  // axes, "path=1,2,4"
  bool file_only = false;          // run no plugin code
};

struct ShowArgs {
  FileArgs input;
  bool resolved = false;  // with every default
  bool origin = false;    // with the place each value comes from
};

struct SchemaArgs {
  std::vector<std::string> plugin_path;
  bool markdown = false;
};

// Where the value at a path comes from; empty: a default. A key that holds a whole mapping has one place for all of it.
std::string OriginOf(const std::map<std::string, std::string>& origin, std::string path) {
  if (const auto found = origin.find(path); found != origin.end()) {
    return found->second;
  }
  for (size_t dot = path.rfind('.'); dot != std::string::npos; dot = path.rfind('.')) {
    path.resize(dot);
    const HostKey* key = FindHostKey(path);
    const bool whole = key != nullptr && (key->type == ValueType::kJson || key->type == ValueType::kFailurePolicy);
    if (const auto found = origin.find(path); whole && found != origin.end()) {
      return found->second;
    }
  }
  return "";
}

// The exit code if plugins reject the file's options; absent if they accept them or cannot be checked here.
std::optional<int> Refused(const Plan& plan, const std::filesystem::path& file) {
  ResourcePool resource_pool(ThisMachine(), {});
  try {
    resource_pool.Require(plan.base.experiment.resources);
    for (const PlannedTrial& trial : plan.trials) {
      const auto& values = plan.points[trial.point].values;
      const auto of_resources = [](const auto& value) { return value.first.starts_with("resources"); };
      if (std::any_of(values.begin(), values.end(), of_resources)) resource_pool.Require(plan.Load(trial).experiment.resources);
    }
  } catch (const std::runtime_error& error) {
    LogInfo("note: plugins were not checked because the trials cannot start here: {}", error.what());
    return std::nullopt;
  }
  return RejectedByPlugins(plan, file, &resource_pool, plan.base.experiment.output_dir);
}

int ConfigCheckCommand(const CheckArgs& args) {
  const std::filesystem::path& file = args.input.file;
  PluginSearch search(args.input.plugin_path);
  const PlanResult result = PlanFile(file, {args.input.set, args.sweep, search.Lookup(), PresetsFor(args.input)});
  if (!result.plan) {
    Complain(result.errors, file);
    return kUsage;
  }
  const Plan& plan = *result.plan;
  if (!args.file_only) {
    if (const auto exit = Refused(plan.Checked(), file)) return *exit;
  }
  for (const std::string& note : plan.notes) {
    LogInfo("{}", note);
  }
  std::string stages;
  for (const std::string& stage : plan.stages) stages += (stages.empty() ? "; stages: " : ", then ") + stage;
  if (plan.search) {
    std::printf("%s: ok (a search: %llu trials by %s over %zu paths)\n", file.c_str(),
                static_cast<unsigned long long>(plan.search->trials), plan.search->method.c_str(), plan.search_space.size());
  } else if (plan.swept) {
    std::printf("%s: ok (%zu points, %zu trials; %zu points dropped of %zu%s)\n", file.c_str(), plan.points.size(),
                plan.trials.size(), plan.dropped.size(), plan.generated, stages.c_str());
  } else if (plan.base.experiment.HasCommand()) {
    const CommandConfig& command = plan.base.experiment.command;
    const std::string program = command.function.value_or(command.words.empty() ? "" : command.words.front());
    std::printf("%s: ok (a trial by %s: %s)\n", file.c_str(), command.function ? "function" : "command", program.c_str());
  } else {
    std::printf("%s: ok (%s with %s, %llu rows%s)\n", file.c_str(), plan.base.learner->id.c_str(), plan.base.env->id.c_str(),
                static_cast<unsigned long long>(plan.base.experiment.rollout.rows()), stages.c_str());
  }
  return kOk;
}

int ConfigSchemaCommand(const SchemaArgs& args) {
  if (args.markdown) {
    std::fputs(KeysMarkdown().c_str(), stdout);
    return kOk;
  }
  PluginSearch search(args.plugin_path);
  std::vector<const PluginInfo*> plugins;
  for (const PluginInfo& info : search.All().plugins()) {
    plugins.push_back(&info);
  }
  std::printf("%s\n", JsonSchema(plugins).dump(2).c_str());
  return kOk;
}

void Show(const LoadedExperiment& loaded, const ShowArgs& args) {
  const auto& origin = loaded.origin;
  YamlTextOptions options;
  options.keep = [&](const std::string& path) { return args.resolved || !OriginOf(origin, path).empty(); };
  options.comment = [&](const std::string& path) -> std::string {
    const std::string place = OriginOf(origin, path);
    return !args.origin ? "" : place.empty() ? "default" : place;
  };
  std::fputs(YamlText(ToJson(loaded.experiment), options).c_str(), stdout);
}

// A sweep is left out; of a file with stages each is a document of its own.
int ConfigShowCommand(const ShowArgs& args) {
  PluginSearch search(args.input.plugin_path);
  PlanOptions options{args.input.set, {}, search.Lookup(), PresetsFor(args.input)};
  options.without_sweep = true;
  const PlanResult result = PlanFile(args.input.file, options);
  if (!result.plan) {
    Complain(result.errors, args.input.file);
    return kUsage;
  }
  const Plan& plan = *result.plan;
  for (const std::string& note : plan.notes) LogInfo("{}", note);
  for (size_t i = 0; i < plan.points.size(); ++i) {
    if (!plan.stages.empty()) std::printf("%s# stage %s\n", i > 0 ? "---\n" : "", plan.points[i].stage.c_str());
    Show(plan.LoadPoint(i), args);
  }
  return kOk;
}

}  // namespace

std::vector<Command> ConfigCommands() {
  const auto declare_check = [](CheckArgs* args, Arguments* add) {
    AddFile(add, &args->input);
    add->Add("--sweep", "PATH=VALUES", &args->sweep,
             "Sweep a path: path=1,2,4, path=range(1,9,2) with the 9 included, or path=choice(a,b); repeatable");
    add->Flag("--file-only", &args->file_only, "Check only the file, without plugin code; saves a second with LibTorch");
  };
  const auto declare_show = [](ShowArgs* args, Arguments* add) {
    AddFile(add, &args->input);
    add->Flag("--resolved", &args->resolved, "Include all defaults");
    add->Flag("--origin", &args->origin, "Include the file, line and column of each value");
  };
  const auto declare_schema = [](SchemaArgs* args, Arguments* add) {
    add->PluginPath(&args->plugin_path);
    add->Flag("--markdown", &args->markdown, "Print the keys, without options of plugins, as a Markdown table");
  };
  return {{"config", "Check or show an experiment file", nullptr},
          MakeCommand<CheckArgs>("config check", "Report all errors of a file and its plugin options", declare_check,
                                 ConfigCheckCommand),
          MakeCommand<ShowArgs>("config show", "Print the values of a file after base files and --set", declare_show,
                                ConfigShowCommand),
          MakeCommand<SchemaArgs>("config schema", "Print a JSON Schema of experiment files with all plugin options",
                                  declare_schema, ConfigSchemaCommand)};
}

}  // namespace backplane
