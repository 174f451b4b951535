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
#include "yaml/yaml_text.hpp"

namespace backplane {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr char kTitle[] = "# Which is better: ";  // begins a file that `compare` wrote

// Of the experiment without its sweep. Absent after errors.
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

// The leaves of `other` that `first` has otherwise, by path. A plugin that is another one comes with all its options.
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
  json content, arms = json::array();
  std::set<std::string> names;
  std::string name;
  for (const ArmFile& one : files) {
    const fs::path& file = one.file;
    const std::optional<json> arm = ReadArm(one, run, &search);
    if (!arm) return std::nullopt;
    if (content.is_null()) content = *arm;
    if (content.at("budget") != arm->at("budget")) {
      LogError(
          "backplane: {} has the budget {}, {} has {}: arms with unequal budgets are no comparison; --set budget.... gives "
          "both one\n"
          "nothing was started",
          files.front().file.string(), JsonText(content.at("budget")), file.string(), JsonText(arm->at("budget")));
      return std::nullopt;
    }
    json entry = {{"name", NameOf(file, names)}};
    for (const char* section : {"env", "learner", "monitors", "rollout", "evaluation", "checkpoint", "resources"}) {
      if (arm->contains(section)) AddDifferences(AtPath(content, section), arm->at(section), section, &entry);
    }
    for (const json& folder : arm->at("plugin_path")) {
      json& all = content["plugin_path"];
      if (std::find(all.begin(), all.end(), folder) == all.end()) all.push_back(folder);
    }
    names.insert(entry["name"].get<std::string>());
    name += (name.empty() ? "" : "_vs_") + entry["name"].get<std::string>();
    arms.push_back(std::move(entry));
  }
  const fs::path out = run.out.empty() ? fs::path("outputs") / name : FolderName(run.out);
  content["experiment"] = name;
  content["compare"] = {{"arms", arms}};
  content["output"] = {{"dir", out.string()}};
  content.erase("report");
  content.erase("preset");
  const fs::path file = out.string() + ".yaml";
  const std::optional<std::string> there = ReadFile(file);
  if (there && !there->starts_with(kTitle)) {
    LogError("backplane: {} is there already, and `compare` did not write it; --out names another place\nnothing was started",
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
