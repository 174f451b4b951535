#include "batch/batch_files.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/files.hpp"
#include "base/json_text.hpp"
#include "base/process.hpp"
#include "contract/placeholders.hpp"
#include "contract/recorded_budget.hpp"
#include "contract/schema.hpp"
#include "plugin/loader.hpp"
#include "record/host_info.hpp"
#include "record/list_sweep.hpp"
#include "record/plan_file.hpp"
#include "record/results_folder.hpp"
#include "record/run_info.hpp"
#include "sweep/plan_lines.hpp"
#include "yaml/yaml_text.hpp"

namespace backplane {
namespace {

// One experiment per pair of env and learner files in the plan. A plan may have thousands of points but has few pairs.
std::vector<LoadedExperiment> DistinctPlugins(const Plan& plan) {
  std::vector<LoadedExperiment> experiments = {plan.base};
  std::set<std::pair<std::string, std::string>> seen;
  for (const PlannedTrial& trial : plan.Checked().trials) {
    const auto file = [&](const char* place) {
      const auto found = trial.files.find(place);
      return found != trial.files.end() ? found->second : std::string();
    };
    if (seen.emplace(file("env.plugin"), file("learner.plugin")).second) experiments.push_back(plan.Checked().Load(trial));
  }
  return experiments;
}

std::map<std::string, std::string> PluginVersions(const std::vector<LoadedExperiment>& experiments) {
  std::map<std::string, std::string> versions;
  for (const LoadedExperiment& loaded : experiments) {
    versions[loaded.env->id] = loaded.env->version;
    versions[loaded.learner->id] = loaded.learner->version;
    for (const auto& wrapper : loaded.wrappers) versions[wrapper->id] = wrapper->version;
    for (const auto& monitor : loaded.monitors) versions[monitor->id] = monitor->version;
  }
  return versions;
}

// Records which options help against which finding, as the plugins declare it ("update_bound-": lower it). A report reads only
// the folder, because the plugins may be gone by then.
void AddHelps(const PluginInfo& info, const std::string& section, const std::string& name, std::vector<OptionHelp>* helps) {
  for (const OptionInfo& option : info.options) {
    for (const std::string& help : option.helps) {
      const char sign = help.empty() ? ' ' : help.back();
      const bool signed_help = sign == '+' || sign == '-';
      helps->push_back({signed_help ? help.substr(0, help.size() - 1) : help, section + ".options." + option.path,
                        sign == '+'   ? 1
                        : sign == '-' ? -1
                                      : 0,
                        OptionTypeName(option.type), option.range.value_or(""), section + "." + name});
    }
  }
}

std::vector<OptionHelp> Helps(const std::vector<LoadedExperiment>& experiments) {
  std::vector<OptionHelp> helps;
  std::set<std::pair<std::string, std::string>> told;
  for (const LoadedExperiment& loaded : experiments) {
    const std::string &env = loaded.experiment.env.plugin, &learner = loaded.experiment.learner.plugin;
    if (told.emplace("env", env).second) AddHelps(*loaded.env, "env", env, &helps);
    if (told.emplace("learner", learner).second) AddHelps(*loaded.learner, "learner", learner, &helps);
  }
  return helps;
}

bool ChoosesPlugin(const std::string& path) { return path == "env" || path == "env.plugin" || ChoosesLearner(path); }

struct PluginSections {
  nlohmann::json env, learner;

  static void Fields(auto& self, auto&& visit) {
    visit("env", self.env);
    visit("learner", self.learner);
  }
};

// A point with other plugins than the base contains all its options, because the base's do not fit. Contains only the values
// that identify a point; a sweep adds the others by their paths. In a comparison the budget belongs to the file or the task,
// never to an arm. Elsewhere a limit is written only if `base` has another, because a swept budget belongs to the identity.
nlohmann::json WholePoint(const Experiment& experiment, const Experiment& base, bool compared) {
  nlohmann::json entry = ToJson(RecordFromJson<PluginSections>(ToJson(experiment)));
  entry.update({{"evaluation.env.options", experiment.evaluation.env_options}});
  for (const HostKey& key : HostKeys()) {
    const std::string section = key.path.substr(0, key.path.find('.'));
    const bool own_budget = section == "budget" && !compared && key.get(key, experiment) != key.get(key, base);
    const bool written = section == "evaluation" || section == "rollout" || own_budget;
    if (!written || key.scope != Scope::kIdentity || key.type == ValueType::kPluginOptions) continue;
    if (nlohmann::json value = key.get(key, experiment); !value.is_null()) entry[key.path] = std::move(value);
  }
  return entry;
}

// The stages. If one stage sets a value, all list it; otherwise the next stage would use the file's value.
nlohmann::json CompleteStages(const Plan& plan) {
  nlohmann::json list = nlohmann::json::array();
  for (const PlannedPoint& point : plan.points) {
    if (list.size() == plan.stages.size()) break;
    if (point.stage != plan.stages[list.size()]) continue;
    nlohmann::json entry = {{"name", point.stage}};
    for (const std::string& path : plan.stage_paths) entry[path] = nullptr;
    for (const auto& [path, value] : point.values) {
      if (entry.contains(path)) entry[path] = value;
    }
    list.push_back(std::move(entry));
  }
  return list;
}

// The points of a chain; the first stage comes first.
std::vector<const PlannedPoint*> ChainOf(const Plan& plan, const PlannedPoint& last) {
  std::vector<const PlannedPoint*> chain = {&last};
  while (chain.back()->after) chain.push_back(&plan.points[*chain.back()->after]);
  std::reverse(chain.begin(), chain.end());
  return chain;
}

// Adds the values of a chain's points: below the path if all are equal and no stage sets it, otherwise below
// "stages.NAME.PATH".
void AddValues(const Plan& plan, const std::vector<const PlannedPoint*>& chain, bool whole, nlohmann::json* entry) {
  std::map<std::string, std::vector<const nlohmann::json*>> values;  // path -> value per stage; NULL: none
  for (size_t k = 0; k < chain.size(); ++k) {
    const auto& all = chain[k]->values;
    for (size_t i = 0; i < (whole ? all.size() : chain[k]->swept); ++i) {
      values[all[i].first].resize(chain.size());
      values[all[i].first][k] = &all[i].second;
    }
  }
  for (const auto& [path, of_stage] : values) {
    const bool within = path.starts_with("env.") || path.starts_with("learner.") || ChoosesPlugin(path);
    const bool own = std::find(plan.stage_paths.begin(), plan.stage_paths.end(), path) != plan.stage_paths.end();
    const bool same = !own && std::all_of(of_stage.begin(), of_stage.end(), [&](const nlohmann::json* value) {
      return value && of_stage.front() && *value == *of_stage.front();
    });
    if (whole && within && same) continue;
    if (same) (*entry)[path] = *of_stage.front();
    if (own) entry->erase(path);
    for (size_t k = 0; k < chain.size() && !same; ++k) {
      if (of_stage[k]) (*entry)["stages." + chain[k]->stage + "." + path] = *of_stage[k];
    }
  }
}

// The name of a point in the list, and its reason.
struct EntryName {
  std::string name, task;  // task: empty: the arm belongs to no task
  std::string why;

  static void Fields(auto& self, auto&& visit) {
    visit("name", self.name);
    visit("task", LeftOutIfEmpty(self.task));
    visit("why", LeftOutIfEmpty(self.why));
  }
};

std::vector<nlohmann::json> ListOfPoints(const Plan& plan) {
  std::vector<nlohmann::json> list;
  std::set<size_t> seen;
  for (const PlannedTrial& trial : plan.trials) {
    const PlannedPoint& last = plan.points[trial.point];
    const bool ends_chain = plan.stages.empty() || last.stage == plan.stages.back();
    if (!ends_chain || !seen.insert(trial.point).second) continue;
    const std::vector<const PlannedPoint*> chain = ChainOf(plan, last);
    const bool whole = plan.whole_files || std::any_of(last.values.begin(), last.values.end(),
                                                       [](const auto& value) { return ChoosesPlugin(value.first); });
    nlohmann::json entry = whole ? WholePoint(plan.Load(trial).experiment, plan.base.experiment, plan.compare.has_value())
                                 : nlohmann::json::object();
    const std::string name = NameWithoutStage(last.name, last.stage);
    const bool on_task = plan.compare && !plan.compare->tasks.empty();  // then the arm's values include the task's
    const ArmOnTask arm = on_task ? SplitOnTask(name) : ArmOnTask{name, ""};
    Overwrite(EntryName{arm.arm, arm.task, last.why}, &entry);
    AddValues(plan, chain, whole, &entry);
    list.push_back(std::move(entry));
  }
  return list;
}

struct ComparisonSection : CompareTerms {
  std::vector<nlohmann::json> arms;

  static void Fields(auto& self, auto&& visit) {
    CompareTerms::Fields(self, visit);
    visit("arms", self.arms);
  }
};

// The sections that a plan adds to its experiment.
struct SweepSections {
  nlohmann::json stages, sweep, compare;

  static void Fields(auto& self, auto&& visit) {
    visit("stages", LeftOutIfEmpty(self.stages));
    visit("sweep", LeftOutIfEmpty(self.sweep));
    visit("compare", LeftOutIfEmpty(self.compare));
  }
};

// The experiment with every default; its sweep lists the remaining points. Expands to the same trials from any folder.
nlohmann::json CompleteConfig(const Plan& plan) {
  SweepSections sections;
  if (!plan.stages.empty()) sections.stages = CompleteStages(plan);
  if (plan.search) {
    sections.sweep = plan.search_section;
  } else if (plan.compare) {
    sections.compare = ComparisonSection{*plan.compare, ListOfPoints(plan)};
  } else if (plan.swept) {
    sections.sweep = ListSweep{ListOfPoints(plan), plan.seeds, plan.memory_axes};
  }
  nlohmann::json config = ToJson(plan.base.experiment);
  config.erase("preset");  // its values are in the config, and some may have been replaced
  Overwrite(sections, &config);
  return config;
}

}  // namespace

void WriteBatchFiles(const BatchRequest& request) {
  const std::vector<LoadedExperiment> experiments = DistinctPlugins(request.plan);
  const ResultsFolder folder{request.out};
  WriteFileAtomic(folder.config(), YamlText(CompleteConfig(request.plan), {}));
  WritePlanFile(folder.plan(), PlanLines(request.plan));
  RunInfo run;
  run.plan_schema = request.plan.schema;
  const Experiment& base = request.plan.base.experiment;
  run.schedule_budget = ScheduleBudgetOf(base).value_or(RecordedBudget(base.budget));
  run.host = HostFacts();
  run.devices = DeviceFacts();
  run.versions = {BACKPLANE_VERSION, kCompiler, TorchVersionAt(request.torch_lib), PluginVersions(experiments)};
  run.helps = Helps(experiments);
  run.config_file = request.config_file;
  run.preset = request.plan.base.experiment.preset.value_or("");
  run.set = request.set;
  run.sweep = request.sweep;
  run.whys = request.plan.whys;
  run.arguments = request.arguments;
  WriteFileAtomic(folder.run(), ToJson(run).dump(kJsonIndent));
}

SessionStart ThisSession(size_t trials) {
  const ProcessId process = ThisProcess();
  return {process.hostname, process.pid, process.pid_start, trials};
}

}  // namespace backplane
