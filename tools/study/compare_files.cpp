#include "study/compare_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/file_name.hpp"
#include "base/files.hpp"
#include "base/json_path.hpp"
#include "base/json_text.hpp"
#include "input/load_file.hpp"
#include "input/preset_places.hpp"
#include "log/log.hpp"
#include "record/fields.hpp"
#include "yaml/yaml_text.hpp"

namespace backplane {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr char kTitle[] = "# Which is better: ";  // first line of files that `compare` writes

// Values in an arm's file that all arms of a comparison share.
struct SharedTerms {
  json budget;
  std::vector<std::string> plugin_path;

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("budget", self.budget);
    visit("plugin_path", self.plugin_path);
  }
};

// Values of the comparison, which replace the same keys of its first arm.
struct ComparisonTerms {
  std::string experiment;
  json compare, output;
  std::vector<std::string> plugin_path;

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("experiment", self.experiment);
    visit("compare", self.compare);
    visit("output", self.output);
    visit("plugin_path", self.plugin_path);
  }
};

// The plan of the experiment without its sweep. Absent after errors.
std::optional<json> ReadArm(const ArmFile& arm, const RunArgs& run, PluginSearch* search) {
  FileArgs input = run.input;
  input.file = arm.file;
  PlanOptions options{{}, {}, search->Lookup(), PresetsFor(input), {}};
  for (const std::string& set : arm.set) {
    if (!set.starts_with("compare.")) options.set.push_back(set);
  }
  options.without_sweep = true;
  PlanResult planned = PlanFile(arm.file, std::move(options));
  if (!planned.plan) {
    Complain(planned.errors, arm.file);
    return std::nullopt;
  }
  return ToJson(planned.plan->base.experiment);
}

// Leaves of `other` that differ from `first`, by path. A different plugin comes with all its options.
void AddDifferences(const json& first, const json& other, const std::string& path, json* arm) {
  if (first == other) return;
  const bool plugin = (path == "env" || path == "learner") && AtPath(first, "plugin") != AtPath(other, "plugin");
  if (!first.is_object() || !other.is_object() || plugin) {
    (*arm)[path] = other;
    return;
  }
  for (const auto& [key, value] : other.items()) {
    const std::string below = path.empty() ? key : path + "." + key;
    AddDifferences(first.contains(key) ? first.at(key) : json(), value, below, arm);
  }
}

std::string NameOf(const fs::path& file, const std::set<std::string>& taken) {
  std::string stem = file.stem().string();
  if (!taken.contains(stem)) return stem;
  const std::string longer = fs::absolute(file).parent_path().filename().string() + "_" + stem;
  return taken.contains(longer) ? fmt::format("{}_{}", longer, taken.size() + 1) : longer;
}

}  // namespace

std::optional<ComparisonFile> WriteComparison(const std::vector<ArmFile>& files, const RunArgs& run) {
  PluginSearch search(run.input.plugin_path);
  json content, budget, arms = json::array();
  std::set<std::string> names;
  std::vector<std::string> plugin_path;
  std::string name;
  for (const ArmFile& one : files) {
    const fs::path& file = one.file;
    const std::optional<json> arm = ReadArm(one, run, &search);
    if (!arm) return std::nullopt;
    const auto shared = RecordFromJson<SharedTerms>(*arm);
    if (content.is_null()) content = *arm, budget = shared.budget;
    if (budget != shared.budget) {
      LogError(
          "backplane: expected equal budgets, got {1} in {0} and {3} in {2}\nhint: --set budget.KEY=VALUE sets both\n"
          "nothing was started",
          files.front().file.string(), JsonText(budget), file.string(), JsonText(shared.budget));
      return std::nullopt;
    }
    const std::string own_name = NameOf(file, names);
    json entry = {{"name", own_name}};
    for (const char* section : {"env", "learner", "monitors", "rollout", "evaluation", "checkpoint", "resources"}) {
      if (arm->contains(section)) AddDifferences(AtPath(content, section), arm->at(section), section, &entry);
    }
    for (const std::string& folder : shared.plugin_path)
      if (std::ranges::find(plugin_path, folder) == plugin_path.end()) plugin_path.push_back(folder);
    names.insert(own_name);
    name += (name.empty() ? "" : "_vs_") + own_name;
    arms.push_back(std::move(entry));
  }
  const fs::path out = run.out.empty() ? fs::path("outputs") / name : FolderName(run.out);
  Overwrite(ComparisonTerms{name, {{"arms", arms}}, {{"dir", out.string()}}, plugin_path}, &content);
  content.erase("report");
  content.erase("preset");
  const fs::path file = out.string() + ".yaml";
  const std::optional<std::string> there = ReadFile(file);
  if (there && !there->starts_with(kTitle)) {
    LogError(
        "backplane: {} exists, and `compare` did not write it\nhint: --out OUT writes to a different folder\nnothing was "
        "started",
        file.string());
    return std::nullopt;
  }
  if (run.dry_run && !there) {
    auto draft = std::make_shared<const ScratchFolder>();
    const fs::path in_draft = draft->path() / file.filename();
    WriteFileAtomic(in_draft, YamlText(content, {}));
    return ComparisonFile{in_draft, out, std::move(draft)};
  }
  if (!file.parent_path().empty()) fs::create_directories(file.parent_path());
  std::string from;
  for (const ArmFile& one : files) from += (from.empty() ? "" : ", ") + one.file.string();
  WriteFileAtomic(file, fmt::format("{}{}. Written by `compare`.\n{}", kTitle, from, YamlText(content, {})));
  return ComparisonFile{file, out, nullptr};
}

}  // namespace backplane
