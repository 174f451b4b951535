#include "sweep/sections.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <map>

#include "config/base.hpp"
#include "contract/schema.hpp"
#include "contract/value.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;

constexpr int kOrdersOfAFile = 100;  // of a swept file and its bases among the sources of errors

// The batch's own keys apply, except that a file keeps its plugin path.
bool IsNotLookedAt(const std::string& key) { return ScopeAt(key) == Scope::kBatch && key != "plugin_path"; }

uint64_t ReadCount(const Node& node, const char* range, const std::string& name, Errors* errors) {
  auto value = ReadValue(node, {ValueType::kInteger, range}, name, errors);
  return value ? value->get<uint64_t>() : 0;
}

// `seeds: [0, 1, 2]`: consecutive ones.
Seeds ReadSeedList(const Node& list, Seeds seeds, Errors* errors) {
  seeds.n = std::max<uint64_t>(list.items.size(), 1);
  for (size_t i = 0; i < list.items.size(); ++i) {
    const uint64_t seed = ReadCount(list.items[i], "[0,1000000000000000000]", "sweep.seeds", errors);
    if (i == 0) seeds.first = seed;
    if (seed == seeds.first + i) continue;
    errors->Add(list.items[i].mark,
                fmt::format("sweep.seeds: expected consecutive seeds, got {} after {}", seed, seeds.first + i - 1),
                ErrorCode::kOther, fmt::format("seeds: {{n: {}, first: {}}}", seeds.n, seeds.first));
    return seeds;
  }
  if (list.items.empty())
    errors->Add(list.mark, "sweep.seeds: expected at least one seed, got none", ErrorCode::kOther, "seeds: [0]");
  return seeds;
}

}  // namespace

std::string WhyNoAxis(const std::string& path) {
  if (path.starts_with("stages.")) return "";  // a value of one stage
  const std::string top = path.substr(0, path.find('.'));
  if (top == "seed") return "use sweep.seeds: {n: 5}";
  if (ScopeAt(path) != Scope::kBatch) return "";
  static const std::map<std::string, std::string> reasons = {
      {"experiment", "all points of a batch share one results folder"},
      {"output", "all points of a batch share one results folder"},
      {"plugin_path",
       "all points of a batch share the plugin path; to compare builds, sweep env.plugin or learner.plugin over plugin files"},
      {"base", "a base is read before the sweep; name whole experiment files in sweep.files"},
      {"preset", "a preset is applied before the sweep; sweep the values that it sets"},
      {"stages", "every point runs all stages; sweep stages.NAME.PATH, a value of one stage"},
      {"sweep", "a sweep cannot change itself"}};
  const auto reason = reasons.find(top);
  return reason == reasons.end() ? "it applies to the whole batch" : reason->second;
}

Axis ReadFileAxis(const Entry& section, std::vector<SweptFile>* files, Errors* errors) {
  auto names = ReadValue(section.value, {ValueType::kPathList, ""}, "sweep.files", errors);
  if (!names) return {};
  if (names->empty()) errors->Add(section.value.mark, "sweep.files: expected at least one file, got none");
  Axis axis;
  for (size_t i = 0; i < names->size(); ++i) {
    const Node& item = section.value.items[i];
    const fs::path file = names->at(i).get<std::string>();
    std::error_code error;  // a name that is too long is none
    if (!fs::is_regular_file(file, error)) {
      errors->Add(item.mark, fmt::format("sweep.files: cannot read '{}'", item.text));
      continue;
    }
    const fs::path shown =
        item.mark.source->is_file ? fs::path(item.mark.source->name).parent_path() / item.text : fs::path(item.text);
    std::optional<Node> root = ReadWithBase(shown.lexically_normal(), errors, static_cast<int>(i + 1) * kOrdersOfAFile);
    if (!root) continue;
    if (const Entry* sweep = FindEntry(*root, "sweep"))
      errors->Add(sweep->mark, "a file in sweep.files cannot have its own sweep");
    if (const Entry* stages = FindEntry(*root, "stages"))
      errors->Add(stages->mark, "a file in sweep.files cannot have its own stages; the batch's stages apply");
    std::erase_if(root->entries, [](const Entry& entry) { return IsNotLookedAt(entry.key); });
    files->push_back({*std::move(root), file.stem().string()});
    axis.push_back({{}, file.stem().string(), files->size()});
  }
  return axis;
}

RandomSection ReadRandomSection(const Entry& section, Errors* errors) {
  RandomSection random;
  if (!section.value.IsMap()) {
    errors->Add(section.value.mark,
                "sweep.random: expected {trials: N, seed: S, space: {...}}, got " + Describe(section.value));
    return random;
  }
  for (const Entry& entry : section.value.entries) {
    if (entry.key == "trials") {
      random.trials = ReadCount(entry.value, "[1,100000]", "sweep.random.trials", errors);
    } else if (entry.key == "seed") {
      random.seed = ReadCount(entry.value, "[0,)", "sweep.random.seed", errors);
    } else if (entry.key == "space" && entry.value.IsMap()) {
      random.space = &entry.value;
    } else {
      errors->Add(entry.mark,
                  fmt::format("sweep.random: expected 'trials', 'seed' or 'space' (a mapping), got '{}'", entry.key));
    }
  }
  if (!FindEntry(section.value, "trials")) errors->Add(section.mark, "sweep.random: missing key 'trials', the number of draws");
  if (!FindEntry(section.value, "space")) errors->Add(section.mark, "sweep.random: missing key 'space', the distributions");
  return random;
}

Seeds ReadSeedsSection(const Entry& section, Errors* errors) {
  Seeds seeds;
  seeds.mark = section.mark;
  if (section.value.IsList()) return ReadSeedList(section.value, seeds, errors);
  if (!section.value.IsMap())
    errors->Add(section.value.mark, "sweep.seeds: expected {n: 5, first: 0, paired: true}, got " + Describe(section.value),
                ErrorCode::kOther, section.value.IsScalar() ? "seeds: {n: " + section.value.text + "}" : "");
  for (const Entry& entry : section.value.entries) {
    if (entry.key == "n") {
      seeds.n = ReadCount(entry.value, "[1,200000]", "sweep.seeds.n", errors);
    } else if (entry.key == "first") {
      seeds.first = ReadCount(entry.value, "[0,1000000000000000000]", "sweep.seeds.first", errors);
    } else if (entry.key == "paired") {
      auto paired = ReadValue(entry.value, {ValueType::kFlag, ""}, "sweep.seeds.paired", errors);
      seeds.paired = paired ? paired->get<bool>() : true;
    } else {
      errors->Add(entry.mark, fmt::format("sweep.seeds: expected 'n', 'first' or 'paired', got '{}'", entry.key));
    }
  }
  return seeds;
}

}  // namespace backplane
