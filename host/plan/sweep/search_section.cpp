#include "sweep/search_section.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/format_count.hpp"
#include "base/suggest.hpp"
#include "contract/value.hpp"
#include "yaml/errors.hpp"

namespace backplane {
namespace {

using nlohmann::json;

// Both ends of each are tried before the search begins.
constexpr size_t kMaxSearched = 500;
constexpr char kMethods[] = "tpe|gp|cmaes|qmc|random";
constexpr char kPruners[] = "none|median|asha|hyperband";

class SearchReader {
 public:
  SearchReader(const Entry& section, Errors* errors) : section_(section), errors_(errors) {}

  SearchSection Read() {
    out_.terms.mark = out_.terms.metric_mark = out_.terms.pruner_mark = section_.mark;
    if (!section_.value.IsMap()) {
      errors_->Add(section_.value.mark, "sweep.search: expected {trials: N, space: {...}, objective: {metric: ...}}, got " +
                                            Describe(section_.value));
      return out_;
    }
    static const std::map<std::string, void (SearchReader::*)(const Entry&)> readers = {
        {"method", &SearchReader::ReadMethod},       {"trials", &SearchReader::ReadTrials},
        {"seed", &SearchReader::ReadSeed},           {"space", &SearchReader::ReadSpace},
        {"objective", &SearchReader::ReadObjective}, {"pruner", &SearchReader::ReadPruner},
        {"confirm", &SearchReader::ReadConfirm}};
    for (const Entry& entry : section_.value.entries) {
      const auto reader = readers.find(entry.key);
      if (reader != readers.end()) {
        (this->*reader->second)(entry);
        continue;
      }
      std::vector<Candidate> names = {{"sampler", "method"}, {"params", "space"}, {"metric", "objective"}};
      for (const auto& [name, unused] : readers) names.push_back({name, name});
      errors_->Add(entry.mark, fmt::format("unknown key '{}' in sweep.search{}", entry.key,
                                           errors_->WantsHint(entry.mark) ? DidYouMean(Nearest(entry.key, names)) : ""));
    }
    Require("trials", "the number of suggestions");
    Require("space", "the paths to search");
    Require("objective", "the metric to optimize, such as {metric: eval/return}");
    out_.terms.confirm_top = std::min(out_.terms.confirm_top, out_.terms.trials);  // there are no more to run again
    return out_;
  }

 private:
  void Require(const char* key, const char* what) {
    if (!FindEntry(section_.value, key))
      errors_->Add(section_.mark, fmt::format("sweep.search: missing key '{}', {}", key, what));
  }

  std::optional<json> Value(const Node& node, ValueType type, const char* range, const std::string& name) {
    return ReadValue(node, {type, range}, "sweep.search." + name, errors_);
  }
  void Count(const Node& node, const char* range, const std::string& name, uint64_t* count) {
    if (const auto value = Value(node, ValueType::kInteger, range, name)) *count = value->get<uint64_t>();
  }

  void ReadMethod(const Entry& entry) {
    if (const auto word = Value(entry.value, ValueType::kEnum, kMethods, entry.key)) out_.terms.method = *word;
  }
  void ReadTrials(const Entry& entry) { Count(entry.value, "[1,100000]", entry.key, &out_.terms.trials); }
  void ReadSeed(const Entry& entry) { Count(entry.value, "[0,1000000000000000000]", entry.key, &out_.terms.seed); }

  void ReadSpace(const Entry& entry) {
    if (entry.value.entries.size() > kMaxSearched) {
      errors_->Add(entry.mark, fmt::format("sweep.search.space: expected at most {} paths, got {}", kMaxSearched,
                                           FormatCount(entry.value.entries.size())));
    } else if (entry.value.IsMap() && !entry.value.entries.empty()) {
      out_.space = &entry.value;
    } else {
      errors_->Add(entry.value.mark,
                   "sweep.search.space: expected a mapping of paths to distributions, got " + Describe(entry.value));
    }
  }

  void ReadObjective(const Entry& entry) {
    if (!entry.value.IsMap()) {
      errors_->Add(entry.value.mark, "sweep.search.objective: expected {metric: eval/return}, got " + Describe(entry.value));
      return;
    }
    for (const Entry& key : entry.value.entries) {
      if (key.key == "metric") {
        out_.terms.metric_mark = key.value.mark;
        if (const auto name = Value(key.value, ValueType::kText, "", "objective.metric")) out_.terms.metric = *name;
      } else if (key.key == "direction") {
        if (const auto word = Value(key.value, ValueType::kEnum, "maximize|minimize", "objective.direction"))
          out_.terms.direction = word->get<std::string>();
      } else {
        errors_->Add(key.mark, fmt::format("sweep.search.objective: expected 'metric' or 'direction', got '{}'", key.key));
      }
    }
    if (!FindEntry(entry.value, "metric")) errors_->Add(entry.mark, "sweep.search.objective: missing key 'metric'");
  }

  void ReadPruner(const Entry& entry) {
    out_.terms.pruner_mark = entry.value.mark;
    const Entry* type = entry.value.IsMap() ? FindEntry(entry.value, "type") : nullptr;
    if (entry.value.IsMap() && !type) {
      errors_->Add(entry.value.mark, "sweep.search.pruner: missing key 'type', one of none, median, asha, hyperband");
      return;
    }
    const auto word = Value(type ? type->value : entry.value, ValueType::kEnum, kPruners, type ? "pruner.type" : "pruner");
    if (!word) return;
    out_.terms.pruner = {{"type", *word}};
    for (const Entry& key : entry.value.entries) {
      if (key.key != "type") ReadPrunerKey(*word, key);
    }
  }

  // The keys of each pruner with their ranges. The search process gets the values unchanged.
  void ReadPrunerKey(const std::string& type, const Entry& key) {
    static const std::map<std::string, std::map<std::string, const char*>> known = {
        {"none", {}},
        {"median", {{"startup_trials", "[0,100000]"}, {"warmup_steps", "[0,)"}}},
        {"asha", {{"min_resource", "[1,)"}, {"reduction", "[2,1000]"}}},
        {"hyperband", {{"min_resource", "[1,)"}, {"max_resource", "[1,)"}, {"reduction", "[2,1000]"}}}};
    const auto& keys = known.at(type);
    const auto found = keys.find(key.key);
    if (found == keys.end()) {
      std::string names;
      for (const auto& [name, range] : keys) names += (names.empty() ? "" : ", ") + name;
      errors_->Add(key.mark, fmt::format("sweep.search.pruner: {} accepts {}, got '{}'", type,
                                         names.empty() ? "no other keys" : names, key.key));
      return;
    }
    uint64_t value = 0;
    Count(key.value, found->second, "pruner." + key.key, &value);
    out_.terms.pruner[key.key] = value;
  }

  void ReadConfirm(const Entry& entry) {
    if (!entry.value.IsMap()) {
      errors_->Add(entry.value.mark, "sweep.search.confirm: expected {top: 3, seeds: 5}, got " + Describe(entry.value));
      return;
    }
    out_.terms.confirm_top = 3;
    out_.terms.confirm_seeds = 5;
    for (const Entry& key : entry.value.entries) {
      if (key.key == "top") {
        Count(key.value, "[1,1000]", "confirm.top", &out_.terms.confirm_top);
      } else if (key.key == "seeds") {
        Count(key.value, "[1,1000]", "confirm.seeds", &out_.terms.confirm_seeds);
      } else {
        errors_->Add(key.mark, fmt::format("sweep.search.confirm: expected 'top' or 'seeds', got '{}'", key.key));
      }
    }
  }

  const Entry& section_;
  Errors* errors_;
  SearchSection out_;
};

}  // namespace

SearchSection ReadSearchSection(const Entry& section, Errors* errors) { return SearchReader(section, errors).Read(); }

}  // namespace backplane
