#include "sweep/form_text.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "contract/schema.hpp"
#include "contract/start_source.hpp"
#include "plugin/option_table.hpp"
#include "sweep/identity.hpp"

namespace backplane {
namespace {

using nlohmann::json;

// Placeholder for a point's own value in the first point's identity: a text that occurs in no file.
constexpr char kMarked[] = "\"\\u0001";

json MarkOf(size_t number) { return "\x01" + std::to_string(number); }

std::optional<json> ValueOf(const HostKey& key, const Experiment& experiment) {
  return key.identity ? key.identity(experiment) : std::optional(key.get(key, experiment));
}

}  // namespace

FormText::FormText(const PointForm& form, const LoadedExperiment& loaded, const std::map<std::string, json>& swept,
                   const std::string& after, const IdentityRules& rules)
    : rules_(rules) {
  names_files_ = std::any_of(form.places().begin(), form.places().end(), [](const PointForm::OwnPlace& place) {
    return place.option ? (place.option->info->flags & BP_PARAM_DATA) != 0 : place.key && place.key->path == kStartKey;
  });
  Marks marks{PointIdentity(loaded, swept, after, rules_)};
  const std::string whole = CanonicalText(marks.identity);
  std::vector<json> own;
  for (size_t i = 0; i < form.places().size(); ++i) {
    const PointForm::OwnPlace& place = form.places()[i];
    if (!place.option) {
      if (place.key && IsBudgetKey(place.key->path)) return;  // null or not decides about the whole budget
      own.emplace_back();
      continue;
    }
    const OptionInfo& option = *place.option->info;
    if ((option.flags & BP_PARAM_LATER) != 0 || !option.reads_budget.empty()) return;  // places depend on its value
    json& at = IdentityPlace(&marks.identity, place.options->canonical)[option.path];
    own.push_back(at);
    marks.Add(&at, {.option = i});
  }
  MarkKeys(form, loaded, PlaceOfBudget(loaded, swept, rules), &marks);
  for (const auto& [key, value] : swept) {
    const bool differs = std::any_of(form.places().begin(), form.places().end(),
                                     [&](const PointForm::OwnPlace& place) { return place.path == key; });
    if (differs && !IsBudgetKey(key)) marks.Add(&marks.identity["swept"][key], {.swept = key});
  }
  if (!after.empty()) marks.Add(&marks.identity["after"], {.after = true});
  Cut(marks);
  if (Of(loaded, own, swept, after) != whole) pieces_.clear();
}

void FormText::Marks::Add(json* at, Piece piece) {
  *at = MarkOf(pieces.size());
  pieces.push_back(std::move(piece));
}

void FormText::MarkKeys(const PointForm& form, const LoadedExperiment& loaded, BudgetPlace budget, Marks* marks) {
  const auto any_place = [&](auto is) { return std::any_of(form.places().begin(), form.places().end(), is); };
  const bool has_key = any_place([](const PointForm::OwnPlace& place) { return place.key != nullptr; });
  for (const HostKey& key : HostKeys()) {
    if (key.canonical.empty() || key.type == ValueType::kPluginName || key.of_command) continue;
    if (IsBudgetKey(key.path) && (budget == BudgetPlace::kLeftOut || budget == BudgetPlace::kSchedule)) continue;
    const bool differs = any_place([&](const PointForm::OwnPlace& place) { return place.key == &key; });
    // One that is made of several members may differ with any key.
    if (!differs && !(has_key && key.identity)) continue;
    if (ValueOf(key, loaded.experiment)) {
      marks->Add(&IdentityPlace(&marks->identity, key.canonical), {.key = &key});
    } else {
      not_there_.push_back(&key);
    }
  }
}

void FormText::Cut(const Marks& marks) {
  const std::vector<Piece>& marked = marks.pieces;
  const std::string text = CanonicalText(marks.identity);
  size_t from = 0;
  for (size_t at = text.find(kMarked); at != std::string::npos; at = text.find(kMarked, from)) {
    size_t number = marked.size();
    const char* const digits = text.data() + at + sizeof(kMarked) - 1;
    const auto [end, error] = std::from_chars(digits, text.data() + text.size(), number);
    if (error != std::errc() || number >= marked.size()) break;
    pieces_.push_back(marked[number]);
    pieces_.back().text = text.substr(from, at - from);
    from = static_cast<size_t>(end - text.data()) + 1;
  }
  pieces_.push_back({.text = text.substr(from)});
}

std::string FormText::Of(const LoadedExperiment& loaded, const std::vector<json>& own, const std::map<std::string, json>& swept,
                         const std::string& after) const {
  const auto is_there = [&](const HostKey* key) { return ValueOf(*key, loaded.experiment).has_value(); };
  if (pieces_.empty() || std::any_of(not_there_.begin(), not_there_.end(), is_there))
    return CanonicalText(PointIdentity(loaded, swept, after, rules_));
  std::string text;
  text.reserve(pieces_.front().text.size() * 2);
  for (const Piece& piece : pieces_) {
    text += piece.text;
    if (piece.option) {
      AppendCanonical(own[*piece.option], &text);
    } else if (piece.key) {
      const std::optional<json> value = ValueOf(*piece.key, loaded.experiment);
      if (!value) return CanonicalText(PointIdentity(loaded, swept, after, rules_));
      AppendCanonical(*value, &text);
    } else if (!piece.swept.empty()) {
      AppendCanonical(swept.at(piece.swept), &text);
    } else if (piece.after) {
      AppendCanonical(after, &text);
    }
  }
  return text;
}

}  // namespace backplane
