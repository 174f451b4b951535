#include "cli/commands.hpp"
#include "cli/load_file.hpp"
#include "config/yaml_text.hpp"
#include "sweep/json_schema.hpp"
#include "sweep/plan.hpp"

namespace backplane {

namespace {

// Whether the value at a path, or a mapping that it is a part of, stands in a file.
bool IsGiven(const std::map<std::string, std::string>& origin, std::string path) {
  for (;;) {
    if (origin.contains(path)) return true;
    const size_t dot = path.rfind('.');
    if (dot == std::string::npos) return false;
    path.resize(dot);
  }
}

}  // namespace

int ConfigCheckCommand(const FileArgs& args) {
  PluginSearch search(args.plugin_path);
  const PlanResult result = MakePlan(args.file, {args.set, {}, search.Lookup()});
  if (!result.plan) {
    Complain(result.errors, args.file);
    return kUsage;
  }
  const Plan& plan = *result.plan;
  for (const std::string& note : plan.notes) {
    std::fprintf(stderr, "%s\n", note.c_str());
  }
  if (plan.swept) {
    std::printf("%s: ok (%zu points, %zu trials; %zu points dropped of %zu)\n", args.file.c_str(), plan.points.size(),
                plan.trials.size(), plan.dropped.size(), plan.generated);
  } else {
    std::printf("%s: ok (%s with %s, %llu rows)\n", args.file.c_str(), plan.base.learner->id.c_str(), plan.base.env->id.c_str(),
                static_cast<unsigned long long>(plan.base.experiment.rollout.rows()));
  }
  return kOk;
}

int ConfigSchemaCommand(const std::vector<std::string>& plugin_path) {
  PluginSearch search(plugin_path);
  std::vector<const PluginInfo*> plugins;
  for (const PluginInfo& info : search.All().plugins()) {
    plugins.push_back(&info);
  }
  std::printf("%s\n", JsonSchema(plugins).dump(2).c_str());
  return kOk;
}

int ConfigShowCommand(const ConfigShowArgs& args) {
  PluginSearch search(args.input.plugin_path);
  const std::optional<LoadedExperiment> loaded = LoadOrComplain(args.input, &search);
  if (!loaded) {
    return kUsage;
  }
  const auto& origin = loaded->origin;
  YamlTextOptions options;
  options.keep = [&](const std::string& path) { return args.resolved || IsGiven(origin, path); };
  options.comment = [&](const std::string& path) -> std::string {
    const auto found = origin.find(path);
    return !args.origin ? "" : found == origin.end() ? "default" : found->second;
  };
  std::fputs(YamlText(ToJson(loaded->experiment), options).c_str(), stdout);
  return kOk;
}

}  // namespace backplane
