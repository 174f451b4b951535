#include "config/host_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/format_count.hpp"
#include "config/command.hpp"
#include "config/unknown_keys.hpp"
#include "contract/schema.hpp"
#include "contract/start_source.hpp"
#include "plugin/plugin_search.hpp"

namespace backplane {
namespace {

using nlohmann::json;

// Where a file of kind parallel_efficiency has no budget.
constexpr char kPrecision[] = "5%", kMaxTime[] = "20s";
constexpr char kPython[] = "learner.python";  // of a function
constexpr char kStartOptimizer[] = "learner.start_optimizer";
constexpr char kBestMetric[] = "checkpoint.best.metric", kBestDirection[] = "checkpoint.best.direction";
constexpr char kRunners[] = "rollout.num_env_runners", kRowsOfARunner[] = "rollout.num_envs_per_env_runner";
constexpr size_t kMostLookedAt = 16;  // of unknown keys: a file of thousands has another fault than a letter

// Parsed once, in the order of the keys: a sweep asks for them at every point.
const json& DefaultOf(const HostKey& key) {
  static const std::vector<json> defaults = [] {
    std::vector<json> list;
    for (const HostKey& k : HostKeys()) {
      std::string why_not;
      list.push_back(k.def ? ReadDefault(k.def, k.rule(), &why_not).value_or(json()) : json());
    }
    return list;
  }();
  return defaults[static_cast<size_t>(&key - HostKeys().data())];
}

uint64_t CountIn(const json* value) { return value && value->is_number_integer() ? value->get<uint64_t>() : 1; }

// Reads the host's own keys by the table in schema.cpp.
class HostKeyReader {
 public:
  HostKeyReader(const Node& root, const std::vector<PluginSlot>& slots, const KeyDefaults& defaults, Values* values,
                Errors* errors)
      : root_(root), slots_(slots), defaults_(defaults), values_(values), errors_(errors) {}

  void Read() {
    values_->values.reserve(HostKeys().size());
    ReadSection(root_, "");
    PutRowsOfTheEnv();
    for (const HostKey& key : HostKeys()) {
      const bool needed = key.required && !(has_command_ && key.type == ValueType::kPluginName);
      if (needed && !FindPath(root_, key.path)) ReportMissing(key);
      if (!values_->values.contains(key.path) && key.def) PutDefault(key);
    }
    LimitRows();
    RequireReportKind();
    RefuseKeysOfOtherKinds();
    if (has_command_) {
      FitToCommand();
    } else {
      RefuseKeysOfCommands();
      DecidePrecision();
      RequireBudget();
      FitBest();
      FitUntil();
      FitStart();
    }
    DecideExclusive();
  }

 private:
  void ReadSection(const Node& map, const std::string& section) {
    for (const Entry& entry : map.entries) {
      std::string path = section.empty() ? entry.key : section + "." + entry.key;
      if (const HostKey* key = FindHostKey(path)) {
        ReadKey(*key, entry);
      } else if (!IsSection(path)) {
        unknown_.push_back(path);
        if (entry.value.reported) continue;  // an override has reported it
        const KeyHint hint = errors_->WantsHint(entry.mark) ? HintFor(section, entry, root_, slots_) : KeyHint();
        errors_->Add(entry.mark,
                     fmt::format("unknown key '{}'{}{}", entry.key, section.empty() ? "" : " in " + section, hint.what),
                     ErrorCode::kOther, hint.line);
      } else if (entry.value.IsMap()) {
        ReadSection(entry.value, path);
      } else if (!entry.value.IsNull() && !entry.value.reported) {
        errors_->Add(entry.value.mark, fmt::format("{}: expected a mapping, got {}", path, Describe(entry.value)));
      }
    }
  }

  void ReadKey(const HostKey& key, const Entry& entry) {
    switch (key.type) {
      case ValueType::kBase:
      case ValueType::kSweep:
      case ValueType::kStages:
      case ValueType::kCompare:
      case ValueType::kPluginOptions:
      case ValueType::kMonitors:
      case ValueType::kWrappers:
        if (entry.mark.source) values_->origin[key.path] = Place(entry.mark);
        return;
      default: break;
    }
    const bool may_be_unset = !key.required || (has_command_ && key.type == ValueType::kPluginName);
    bool unset = entry.value.IsNull() && !key.def && may_be_unset;
    if (unset) return;
    if (auto value = ReadValue(entry.value, key.rule(), key.path, errors_)) values_->Put(key.path, *value, entry.mark);
  }

  // "learner: NAME"; empty: none is installed.
  static std::string InstalledPlugin(uint32_t kind) {
    PluginSearch search({});
    std::string why_not;
    search.All().Find(kind, "", &why_not);
    constexpr std::string_view kHint = "\nhint: ";
    const size_t hint = why_not.find(kHint);
    return hint == why_not.npos ? "" : why_not.substr(hint + kHint.size());
  }

  // Returns true if an unknown key is probably a misspelling of this one, of a section above it, or of a key below it. Then
  // only the unknown key is reported.
  bool IsMisspelt(const std::string& path) {
    if (!meant_) {
      meant_.emplace();
      for (size_t i = 0; i < std::min(unknown_.size(), kMostLookedAt); ++i)
        if (const auto near = NearestPaths(unknown_[i], slots_); !near.empty()) meant_->push_back(near[0]);
    }
    return std::any_of(meant_->begin(), meant_->end(), [&](const std::string& meant) {
      return meant == path || meant.starts_with(path + ".") || path.starts_with(meant + ".");
    });
  }

  void ReportMissing(const HostKey& key) {
    size_t dot = key.path.rfind('.');
    const Node* section = dot == std::string::npos ? &root_ : FindPath(root_, key.path.substr(0, dot));
    if (section && !section->IsMap() && !section->IsNull()) return;  // it has its own error
    if (IsMisspelt(key.path)) return;                                // the misspelt key has an error
    const Mark mark = PathMark(root_, key.path);
    const bool has_hint = key.type == ValueType::kPluginName && errors_->WantsHint(mark);  // a search reads all plugins
    errors_->Add(mark, fmt::format("missing key '{}': {}", key.path, key.doc), ErrorCode::kOther,
                 has_hint ? InstalledPlugin(key.path.starts_with("env") ? BP_KIND_ENV : BP_KIND_LEARNER) : "");
  }

  // Uses the env's declared number if the file sets none. It is the same on every machine, because it belongs to the identity.
  void PutRowsOfTheEnv() {
    const PluginSlot* env = FindSlot(slots_, "env.options");
    const uint64_t rows = env && env->table ? env->table->info().rows : 0;
    if (rows == 0 || FindPath(root_, kRunners) || FindPath(root_, kRowsOfARunner)) return;
    const RolloutConfig rollout = RolloutConfig::OfRows(rows);
    values_->values[kRunners] = rollout.num_env_runners;
    values_->values[kRowsOfARunner] = rollout.num_envs_per_env_runner;
  }

  void PutDefault(const HostKey& key) {
    constexpr std::string_view kNamePattern = "<experiment>";
    const auto other = defaults_.find(key.path);
    const json& value = other != defaults_.end() ? other->second : DefaultOf(key);
    const size_t at = value.is_string() ? value.get_ref<const std::string&>().find(kNamePattern) : std::string::npos;
    if (at != std::string::npos) {
      if (const auto name = values_->values.find("experiment"); name != values_->values.end()) {
        std::string text = value.get<std::string>();
        values_->values[key.path] = text.replace(at, kNamePattern.size(), name->second.get<std::string>());
        return;
      }
    }
    values_->values.emplace(key.path, value);
  }

  // Returns true if one of its limits is set; appends the names of all to `limits`.
  bool HasBudget(std::string* limits) const {
    for (const HostKey& key : HostKeys()) {
      if (!key.path.starts_with("budget.") || key.path == kUntil) continue;
      const Node* node = FindPath(root_, key.path);
      if (node && !node->IsNull()) return true;
      *limits += (limits->empty() ? "" : ", ") + key.path.substr(7);
    }
    const Node* budget = FindPath(root_, "budget");
    if (!budget || budget->IsNull()) return false;
    // A value that is not a map, or an unknown key, has its own error.
    return !budget->IsMap() || std::any_of(budget->entries.begin(), budget->entries.end(),
                                           [](const Entry& entry) { return !entry.value.IsNull() && entry.key != "until"; });
  }

  void RequireBudget() {
    std::string limits;
    if (HasBudget(&limits) || IsGiven("report.precision") || IsMisspelt("budget")) return;
    errors_->Add(PathMark(root_, "budget"), "budget: expected at least one limit of " + limits, ErrorCode::kNoBudget,
                 "budget: {iterations: 100}");
  }

  // A budget is run exactly. Precision is on without a budget, or if the file requests it.
  void DecidePrecision() {
    if (!IsGiven("report.kind")) return;
    ReportConfig report;
    report.kind = values_->values["report.kind"].get<std::string>();
    std::string limits;
    if (!report.MeasuresSpeed() || (!IsGiven("report.precision") && HasBudget(&limits))) return;
    if (!IsGiven("report.precision")) values_->values["report.precision"] = kPrecision;
    if (!IsGiven("report.max_time")) values_->values["report.max_time"] = kMaxTime;
  }

  bool StandsAt(const std::string& path) const {
    const Node* node = FindPath(root_, path);
    return node != nullptr && !node->IsNull();
  }

  void RefuseKeysOfCommands() {
    for (const HostKey& key : HostKeys()) {
      if (key.of_command && StandsAt(key.path))
        errors_->Add(PathMark(root_, key.path), fmt::format("{}: this key needs learner.{}, which is missing", key.path,
                                                            key.path == kPython ? "function" : "command"));
    }
  }

  // A command does the host's work for plugins itself.
  void FitToCommand() {
    const auto refuse = [&](const std::string& path, const std::string& why) {
      if (StandsAt(path)) errors_->Add(PathMark(root_, path), path + ": " + why);
    };
    const bool is_function = StandsAt(kFunctionLearner);
    const std::string given = is_function ? kFunctionLearner : kCommandLearner, place = Place(PathMark(root_, given));
    refuse("learner.plugin",
           fmt::format("expected a plugin or a {}, got both; {} is at {}", is_function ? "function" : "command", given, place));
    if (is_function) {
      refuse(kCommandLearner, "expected a command or a function, got both; learner.function is at " + place);
    } else {
      refuse(kPython, "this key needs learner.function, which is missing; in a command, put the interpreter first");
    }
    refuse("budget.epochs",
           "a command does not report its passes over the data; use budget.iterations (its reports), budget.env_steps (the "
           "step that it reports), budget.wall_time, or no budget to wait for its exit");
    refuse("budget.episodes",
           "a command does not report its episodes; use budget.iterations (its reports) or budget.env_steps (the step that it "
           "reports)");
    refuse(kUntil, "a command evaluates itself and ends itself; give it the goal as one of its arguments");
    refuse(kStartKey, "a command loads its own files; pass the path as an option");
    refuse(kBestMetric, "a command saves its own checkpoints, whose scores Backplane does not know");
    refuse("report.precision", "a command itself decides how long it runs; use a limit in budget, or none");
    const Node* pattern = FindPath(root_, "learner.tensorboard");
    if (pattern && pattern->IsScalar() && (pattern->text.starts_with('/') || pattern->text.find("..") != std::string::npos))
      errors_->Add(pattern->mark, fmt::format("learner.tensorboard: expected files below the command's working folder, such as "
                                              "\"runs/**\", got '{}'",
                                              pattern->text));
    if (IsGiven("evaluation.episodes") && values_->values["evaluation.episodes"] != 0)
      errors_->Note(PathMark(root_, "evaluation.episodes"),
                    "only plugins are evaluated by the host; a command evaluates itself and reports eval/return");
  }

  void FitStart() {
    if (!IsGiven(kStartOptimizer) || IsGiven(kStartKey)) return;
    errors_->Add(PathMark(root_, kStartOptimizer),
                 fmt::format("{}: this key needs {}, which is missing", kStartOptimizer, kStartKey), ErrorCode::kOther,
                 "learner: {start_from: OUT/TRIAL@best}");
  }

  // The best checkpoint is chosen by evaluations, whose direction must be known.
  void FitBest() {
    const auto refuse = [&](const char* path, const std::string& why, const std::string& hint) {
      errors_->Add(PathMark(root_, path), why, ErrorCode::kOther, hint);
    };
    if (!IsGiven(kBestMetric)) {
      if (IsGiven(kBestDirection))
        refuse(kBestDirection, "checkpoint.best: expected a metric with the direction, got none",
               "checkpoint: {best: {metric: eval/loss, direction: minimize}}");
      return;
    }
    const std::string metric = values_->values[kBestMetric].get<std::string>();
    if (!metric.starts_with("eval/")) {
      refuse(kBestMetric, fmt::format("checkpoint.best: expected a metric of evaluations, eval/NAME, got '{}'", metric),
             "checkpoint: {best: eval/return}");
    } else if (metric != BestConfig::kKnownMetric && !StandsAt(kBestDirection)) {
      refuse(kBestMetric,
             fmt::format("checkpoint.best: expected {}, because the direction of '{}' is unknown", kBestDirection, metric),
             fmt::format("checkpoint: {{best: {{metric: {}, direction: maximize}}}}", metric));
    }
    if (values_->values["evaluation.episodes"] == 0)
      refuse(kBestMetric, "checkpoint.best: expected evaluations that choose the best checkpoint, got evaluation.episodes: 0",
             "evaluation: {episodes: 10, every_iterations: 10}");
    else if (values_->values["evaluation.every_iterations"] == 0)
      errors_->Note(PathMark(root_, kBestMetric),
                    "checkpoint.best: only the trial's end is evaluated, so the last policy is also the best; set "
                    "evaluation.every_iterations");
  }

  // Only evaluations during a trial can end it.
  void FitUntil() {
    if (!IsGiven(kUntil)) return;
    const auto refuse = [&](const std::string& wanted, const std::string& found, const std::string& hint) {
      errors_->Add(PathMark(root_, kUntil), fmt::format("{}: expected {}, got {}", kUntil, wanted, found), ErrorCode::kOther,
                   hint);
    };
    std::string why_not;
    const Goal goal = GoalFromJson(values_->values[kUntil], &why_not).value_or(Goal());
    if (!goal.metric.starts_with("eval/")) refuse("a metric of evaluations, eval/NAME", "'" + goal.metric + "'", kUntilExample);
    for (const char* key : {"evaluation.episodes", "evaluation.every_iterations"})
      if (values_->values[key] == 0)
        return refuse("evaluations during the trial", fmt::format("{}: 0", key),
                      "evaluation: {episodes: 10, every_iterations: 10}");
  }

  void RefuseKeysOfOtherKinds() {
    if (!IsGiven("report.kind")) return;
    const std::string kind = values_->values["report.kind"].get<std::string>();
    for (const ReportKind& other : kReportKinds) {
      if (other.name == kind) continue;
      for (const std::string_view path : other.keys_of_its_own) {
        if (path.empty() || !IsGiven(path)) continue;
        errors_->Add(PathMark(root_, std::string(path)),
                     fmt::format("{}: expected report.kind: {} for this key, got {}", path, other.name, kind));
      }
    }
  }

  // Each of the two alone is within its range; the buffers of a trial have a place for each row.
  void LimitRows() {
    const auto value_at = [&](const std::string& path) {
      const auto found = values_->values.find(path);
      return found == values_->values.end() ? nullptr : &found->second;
    };
    if (const uint64_t rows = RowsOf(value_at); rows > RolloutConfig::kMostRows) {
      errors_->Add(PathMark(root_, FindPath(root_, kRowsOfARunner) ? kRowsOfARunner : kRunners),
                   fmt::format("rollout: {} env runners of {} envs each are {} envs in total, the limit is {}",
                               CountIn(value_at(kRunners)), CountIn(value_at(kRowsOfARunner)), FormatCount(rows),
                               FormatCount(RolloutConfig::kMostRows)));
    }
  }

  bool IsGiven(std::string_view path) const {
    auto found = values_->values.find(std::string(path));
    return found != values_->values.end() && !found->second.is_null() && found->second != false;
  }

  void RequireReportKind() {
    if (IsGiven("report.kind")) return;
    for (const HostKey& key : HostKeys()) {
      if (!key.path.starts_with("report.") || !IsGiven(key.path) || !values_->origin.contains(key.path)) continue;
      const Node* kind = FindPath(root_, "report.kind");
      if (!kind) errors_->Add(PathMark(root_, key.path), "missing key 'report.kind': " + FindHostKey("report.kind")->doc);
      return;
    }
  }

  void DecideExclusive() {
    json& exclusive = values_->values["resources.exclusive"];
    if (exclusive != "auto") return;
    ReportConfig report;
    auto kind = values_->values.find("report.kind");
    if (kind != values_->values.end() && kind->second.is_string()) report.kind = kind->second.get<std::string>();
    report.timing = values_->values["report.timing"] == true;
    exclusive = report.ComparesTimes();
  }

  const Node& root_;
  const std::vector<PluginSlot>& slots_;
  const KeyDefaults& defaults_;
  std::vector<std::string> unknown_;               // paths
  std::optional<std::vector<std::string>> meant_;  // by the first of these, found when it is first asked for
  Values* values_;
  Errors* errors_;
  const bool has_command_ = HasCommand(root_);
};

}  // namespace

void ReadHostKeys(const Node& root, const std::vector<PluginSlot>& slots, const KeyDefaults& defaults, Values* values,
                  Errors* errors) {
  HostKeyReader(root, slots, defaults, values, errors).Read();
}

uint64_t RowsOf(const std::function<const json*(const std::string& path)>& value_at) {
  return CountIn(value_at(kRunners)) * CountIn(value_at(kRowsOfARunner));
}

}  // namespace backplane
