#include "sweep/identity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/sha256.hpp"
#include "contract/recorded_budget.hpp"
#include "contract/schema.hpp"
#include "contract/value.hpp"
#include "plugin/reads_budget.hpp"
#include "record/fields.hpp"

namespace backplane {
namespace {

using nlohmann::json;

constexpr size_t kIdDigits = 16;
constexpr const char* kBudgetKeys[] = {"budget.iterations", "budget.env_steps", "budget.episodes", "budget.epochs",
                                       "budget.wall_time"};

// A plugin's name in the file is one of several for the same id, and its file is known by its content: both say more where the
// sweep names them.
bool SaysMoreWhereSwept(const HostKey& key) { return key.scope == Scope::kSpeed || key.type == ValueType::kPluginName; }

// The identity of a plugin named by its id is complete; for one named by its file it lacks the file. An unset interpreter
// adds nothing.
bool SaysMore(const std::string& key, const json& value) {
  if (IsBudgetKey(key)) return false;  // the budget has its own place
  if (key == "learner.python") return !value.is_null();
  if (!key.ends_with(".plugin")) return true;
  return value.is_string() && value.get<std::string>().find('/') != std::string::npos;  // of a command there is none
}

// Part of the text that is hashed for a point's id. The values of keys are the rest.
struct PointTerms {
  std::string after;  // id of the point of the stage before; empty: none
  int schema = kPlanSchema;
  std::map<std::string, json> swept = {};

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("after", LeftOutIfEmpty(self.after));
    visit("schema", self.schema);
    visit("swept", LeftOutIfEmpty(self.swept));
  }
};

void AppendText(const std::string& text, std::string* out) {
  const auto plain = [](unsigned char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; };
  if (std::all_of(text.begin(), text.end(), plain)) {
    out->append(1, '"').append(text).append(1, '"');
  } else {
    *out += json(text).dump();
  }
}

// Read once and not at every point of a sweep, which asks for the same few.
const json& DefaultOf(const OptionInfo& option) {
  thread_local std::map<std::string, json> known;
  const ValueRule rule{static_cast<ValueType>(option.type), option.range.value_or("")};
  const auto [found, fresh] = known.try_emplace(fmt::format("{}\n{}\n{}", option.type, rule.range, *option.def));
  std::string why_not;
  if (fresh) found->second = ReadDefault(*option.def, rule, &why_not).value_or(json());
  return found->second;
}

// An option newer than existing results, with its default, leaves the identity unchanged.
void LeaveOutLater(const PluginInfo& info, json* options) {
  for (const OptionInfo& option : info.options) {
    if ((option.flags & BP_PARAM_LATER) == 0 || !option.def || !options->is_object()) continue;
    const auto value = options->find(option.path);
    if (value != options->end() && *value == DefaultOf(option)) options->erase(value);
  }
}

// The chain of wrappers, whatever names and places they have in the file.
json WrappersOf(const LoadedExperiment& loaded) {
  json chain = json::array();
  for (size_t i = 0; i < loaded.wrappers.size(); ++i) {
    json options = loaded.experiment.wrappers[i].options;
    LeaveOutLater(*loaded.wrappers[i], &options);
    chain.push_back({{"id", loaded.wrappers[i]->id}, {"options", std::move(options)}});
  }
  return chain;
}

}  // namespace

std::set<std::string> LeftOutKeys(const std::string& path) {
  std::set<std::string> keys;
  for (const HostKey& key : HostKeys()) {
    const bool touches = key.path == path || key.path.starts_with(path + ".") || path.starts_with(key.path + ".");
    if (touches && SaysMoreWhereSwept(key)) keys.insert(key.path);
  }
  return keys;
}

std::set<std::string> KeysOfSwept(const std::string& path) {
  std::set<std::string> keys = LeftOutKeys(path);
  for (const HostKey& key : HostKeys()) {
    const bool touches = key.path == path || key.path.starts_with(path + ".");
    if (touches && IsBudgetKey(key.path)) keys.insert(key.path);
  }
  return keys;
}

bool IsBudgetKey(const std::string& path) { return std::ranges::find(kBudgetKeys, path) != std::end(kBudgetKeys); }

BudgetPlace PlaceOfBudget(const LoadedExperiment& loaded, const std::map<std::string, json>& swept,
                          const IdentityRules& rules) {
  const Experiment& experiment = loaded.experiment;
  const bool is_swept = std::any_of(swept.begin(), swept.end(), [](const auto& one) { return IsBudgetKey(one.first); });
  // A command may read the budget from its options, so it counts as a reader.
  if (rules.schema < kPlanSchema || rules.keeps_budget || is_swept || experiment.HasCommand() ||
      experiment.report.ComparesTimes())
    return BudgetPlace::kIdentity;
  if (!ReadsBudget(*loaded.learner, experiment.learner.options)) return BudgetPlace::kLeftOut;
  return ScheduleBudgetOf(experiment) ? BudgetPlace::kSchedule : BudgetPlace::kRead;
}

json PointIdentity(const LoadedExperiment& loaded, const std::map<std::string, json>& swept, const std::string& after,
                   const IdentityRules& rules) {
  PointTerms terms{.after = after, .schema = rules.schema};
  const BudgetPlace budget = PlaceOfBudget(loaded, swept, rules);
  std::optional<Experiment> kept;
  if (budget == BudgetPlace::kSchedule) {
    kept.emplace();
    kept->budget = ConfigOf(*ScheduleBudgetOf(loaded.experiment));
  }
  for (const auto& [key, value] : swept)
    if (SaysMore(key, value)) terms.swept.emplace(key, value);
  json identity = ToJson(terms);
  for (const HostKey& key : HostKeys()) {
    if (key.canonical.empty() || (key.of_command && !loaded.experiment.HasCommand())) continue;
    const bool of_budget = IsBudgetKey(key.path);
    if (of_budget && budget == BudgetPlace::kLeftOut) continue;
    const Experiment& experiment = of_budget && kept ? *kept : loaded.experiment;
    if (key.type == ValueType::kPluginName) {
      IdentityPlace(&identity, key.canonical) = key.path == "env.plugin" ? loaded.env->id : loaded.learner->id;
    } else if (!key.identity) {
      json& value = IdentityPlace(&identity, key.canonical) = key.get(key, experiment);
      if (key.path == "env.options") LeaveOutLater(*loaded.env, &value);
      if (key.path == "learner.options") LeaveOutLater(*loaded.learner, &value);
    } else if (key.type == ValueType::kWrappers) {
      if (!loaded.wrappers.empty()) IdentityPlace(&identity, key.canonical) = WrappersOf(loaded);
    } else if (std::optional<json> value = key.identity(experiment)) {
      IdentityPlace(&identity, key.canonical) = *std::move(value);
    }
  }
  return identity;
}

json TrialIdentity(json point, uint64_t seed, const std::map<std::string, std::string>& files, const std::string& after) {
  json identity = {{"point", std::move(point)}, {"seed", seed}, {"files", files}};
  if (!after.empty()) identity["after"] = after;
  return identity;
}

json& IdentityPlace(json* identity, const std::string& canonical) {
  const size_t dot = canonical.find('.');
  if (dot == std::string::npos) return (*identity)[canonical];
  return (*identity)[canonical.substr(0, dot)][canonical.substr(dot + 1)];
}

std::string IdOfText(const std::string& canonical) { return Sha256(canonical).substr(0, kIdDigits); }

// What `dump` writes. That spends most of its time on what identities have none of: on escapes and on where the text goes.
void AppendCanonical(const json& value, std::string* out) {
  const auto append_all = [out](const auto& items, char close, const auto& append) {
    char before = close == '}' ? '{' : '[';
    if (items.empty()) *out += before;
    for (const auto& item : items) {
      *out += std::exchange(before, ',');
      append(item);
    }
    *out += close;
  };
  switch (value.type()) {
    case json::value_t::object:
      append_all(value.get_ref<const json::object_t&>(), '}', [out](const auto& entry) {
        AppendText(entry.first, out);
        *out += ':';
        AppendCanonical(entry.second, out);
      });
      break;
    case json::value_t::array:
      append_all(value.get_ref<const json::array_t&>(), ']', [out](const json& item) { AppendCanonical(item, out); });
      break;
    case json::value_t::string: AppendText(value.get_ref<const std::string&>(), out); break;
    case json::value_t::null: *out += "null"; break;
    case json::value_t::boolean: *out += value.get<bool>() ? "true" : "false"; break;
    case json::value_t::number_unsigned: *out += std::to_string(value.get<uint64_t>()); break;
    default: *out += value.dump(); break;
  }
}

std::string CanonicalText(const json& identity) {
  std::string text;
  AppendCanonical(identity, &text);
  return text;
}

std::string IdOf(const json& identity) { return IdOfText(CanonicalText(identity)); }

std::string TrialIdOf(const std::string& point, uint64_t seed, const std::map<std::string, std::string>& files,
                      const std::string& after) {
  // In pieces, as the point's text is a long one.
  std::string text = "{";
  if (!after.empty()) text += R"("after":)" + json(after).dump() + ",";
  text += R"("files":{)";
  bool first = true;
  for (const auto& [name, hash] : files) {
    if (!std::exchange(first, false)) text += ',';
    AppendText(name, &text);
    text += ':';
    AppendText(hash, &text);
  }
  text += R"(},"point":)";
  const std::string end = R"(,"seed":)" + std::to_string(seed) + "}";
  Sha256Digest digest;
  for (const std::string* piece : std::initializer_list<const std::string*>{&text, &point, &end})
    digest.Add(piece->data(), piece->size());
  return digest.Hex().substr(0, kIdDigits);
}

}  // namespace backplane
