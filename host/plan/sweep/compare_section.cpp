#include "sweep/compare_section.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/suggest.hpp"
#include "contract/value.hpp"
#include "expression/expression.hpp"
#include "record/compare_looks.hpp"
#include "yaml/errors.hpp"

namespace backplane {
namespace {

using nlohmann::json;

// Paths and values of an arm, or of a task.
std::vector<Entry> ValuesOf(const Node& item) {
  std::vector<Entry> values;
  for (const Entry& entry : item.entries)
    if (entry.key != "name" && entry.key != "task" && entry.key != "reference") values.push_back(entry);
  return values;
}

// Finds a path of `paths` that is equal to `path`, above it or below it. NULL: none.
const std::string* FindOverlap(const std::set<std::string>& paths, const std::string& path) {
  for (size_t dot = path.find('.');; dot = path.find('.', dot + 1)) {
    if (const auto above = paths.find(path.substr(0, dot)); above != paths.end()) return &*above;
    if (dot == path.npos) break;
  }
  const auto below = paths.lower_bound(path + ".");
  return below != paths.end() && below->starts_with(path + ".") ? &*below : nullptr;
}

// The budget of an arm or a task as text; empty: it sets none.
std::string BudgetText(const Node& item) {
  std::string text;
  const auto add = [&](const Node& node, const auto& self) -> void {
    text += node.text;
    for (const Node& one : node.items) self(one, self);
    for (const Entry& entry : node.entries) {
      text += entry.key + ": ";
      self(entry.value, self);
      text += "; ";
    }
  };
  for (const Entry& value : ValuesOf(item)) {
    if (!value.key.starts_with("budget")) continue;
    text += value.key + ": ";
    add(value.value, add);
    text += "; ";
  }
  return text;
}

std::string NameOf(const Node& item) {
  const Entry* name = FindEntry(item, "name");
  return name ? name->value.text : "";
}

class CompareReader {
 public:
  CompareReader(const Entry& section, Errors* errors) : section_(section), errors_(errors) {}

  // Absent after errors.
  std::optional<CompareTerms> Read() {
    const size_t before = errors_->size();
    if (!section_.value.IsMap()) {
      errors_->Add(section_.value.mark, "compare: expected a mapping with arms, got " + Describe(section_.value));
      return std::nullopt;
    }
    for (const Entry& entry : section_.value.entries) ReadKey(entry);
    if (errors_->size() > before) return std::nullopt;
    if (tasks_) CheckTasks();
    if (errors_->size() > before) return std::nullopt;
    CheckLooks();
    return errors_->size() > before ? std::nullopt : std::optional(terms_);
  }

  // The arms as the points of a list; with tasks every arm on each, the arms of a task one after the other.
  Entry List() const {
    Entry list = *arms();
    list.key = "list";
    if (!tasks_) return list;
    list.value.items.clear();
    for (const Node& task : tasks_->value.items) {
      for (const Node& arm : arms()->value.items)
        if (IsOf(arm, NameOf(task))) list.value.items.push_back(OnTask(arm, task));
    }
    return list;
  }

 private:
  const Entry* arms() const { return FindEntry(section_.value, "arms"); }

  // An arm that names its task is of that one alone.
  static bool IsOf(const Node& arm, const std::string& task) {
    const Entry* own = FindEntry(arm, "task");
    return own == nullptr || own->value.text == task;
  }

  static Node OnTask(const Node& arm, const Node& task) {
    Node point = arm;
    point.entries.clear();
    Entry name = *FindEntry(arm, "name");
    name.value.text = NameOnTask(NameOf(arm), NameOf(task));
    point.entries.push_back(std::move(name));
    for (const Node* item : {&task, &arm})
      for (Entry& value : ValuesOf(*item)) point.entries.push_back(std::move(value));
    return point;
  }

  std::optional<json> Value(const Entry& entry, const ValueRule& rule, const char* name) {
    return ReadValue(entry.value, rule, name, errors_);
  }

  void ReadKey(const Entry& entry) {
    if (entry.key == "arms") return ReadArms(entry);
    if (entry.key == "tasks") return ReadTasks(entry);
    if (entry.key == "looks") return ReadLooks(entry);
    if (entry.key == "metric") {
      if (const auto text = Value(entry, {ValueType::kText, ""}, "compare.metric")) ReadMetric(entry, text->get<std::string>());
    } else if (entry.key == "direction") {
      if (const auto word = Value(entry, {ValueType::kEnum, "up|down"}, "compare.direction"))
        terms_.direction = word->get<std::string>();
    } else if (entry.key == "margin") {
      if (Value(entry, {ValueType::kPercent, "(0,100]"}, "compare.margin")) terms_.margin = entry.value.text;
    } else if (entry.key == "alpha") {
      if (const auto number = Value(entry, {ValueType::kNumber, "(0,0.5]"}, "compare.alpha"))
        terms_.alpha = number->get<double>();
    } else {
      const std::vector<Candidate> known = {
          {"arms", "arms"},   {"metric", "metric"}, {"direction", "direction"}, {"margin", "margin"}, {"looks", "looks"},
          {"alpha", "alpha"}, {"tasks", "tasks"},   {"list", "arms"},           {"points", "arms"},   {"envs", "tasks"}};
      errors_->Add(entry.mark, fmt::format("unknown key '{}' in compare{}", entry.key, DidYouMean(Nearest(entry.key, known))));
    }
  }

  void ReadMetric(const Entry& entry, const std::string& text) {
    try {
      Expression::OfMeasures(text);
      terms_.metric = text;
    } catch (const NoValue& error) {
      errors_->Add(entry.value.mark,
                   fmt::format("compare.metric: expected a metric or an expression of metrics, got '{}': {}", text, error.why));
    }
  }

  void ReadArms(const Entry& entry) {
    arms_ = entry.value.IsList() ? entry.value.items.size() : 0;
    if (arms_ < 2)
      errors_->Add(entry.value.mark,
                   "compare.arms: expected two or more, such as [{name: a}, {name: b, learner.options.lr: 0.001}], got " +
                       (arms_ == 1 ? std::string("one") : Describe(entry.value)));
    std::set<std::pair<std::string, std::string>> names;
    for (const Node& arm : entry.value.items) {
      const Entry *name = arm.IsMap() ? FindEntry(arm, "name") : nullptr,
                  *task = arm.IsMap() ? FindEntry(arm, "task") : nullptr;
      if (arm.IsMap() && !name) errors_->Add(arm.mark, "compare.arms: missing key 'name', which the verdict uses");
      if (name && !names.insert({name->value.text, task ? task->value.text : ""}).second)
        errors_->Add(name->mark, fmt::format("compare.arms: two arms are named '{}'", name->value.text));
      for (const Entry& value : arm.entries) {
        if (value.key.starts_with("budget") && !task)
          errors_->Add(
              value.mark,
              fmt::format("compare.arms: '{}' cannot differ between arms: a comparison needs equal budgets", value.key));
      }
    }
  }

  void ReadTasks(const Entry& entry) {
    const size_t before = errors_->size();
    if (!entry.value.IsList() || entry.value.items.size() < 2)
      errors_->Add(entry.value.mark,
                   "compare.tasks: expected two or more, such as [{name: easy, env: my_env, reference: [20, 500]}, ...], got " +
                       (entry.value.IsList() ? std::to_string(entry.value.items.size()) : Describe(entry.value)));
    std::set<std::string> names;
    for (const Node& task : entry.value.items) {
      const std::string name = task.IsMap() ? NameOf(task) : "";
      if (name.empty()) {
        errors_->Add(task.mark, "compare.tasks: missing key 'name', which the verdict uses");
      } else if (!names.insert(name).second) {
        errors_->Add(task.mark, fmt::format("compare.tasks: two tasks are named '{}'", name));
      } else if (name.find(kOnTask) != std::string::npos) {
        errors_->Add(task.mark,
                     fmt::format("compare.tasks: '{}' contains '{}', which separates arm and task in names", name, kOnTask));
      } else if (name.starts_with(kOnTask.substr(1))) {
        errors_->Add(task.mark,
                     fmt::format("compare.tasks: '{}' begins with 'on', which separates arm and task in names", name));
      }
      terms_.tasks.push_back({name, ReadReference(task)});
    }
    if (errors_->size() == before) tasks_ = &entry;
  }

  std::vector<double> ReadReference(const Node& task) {
    const Entry* given = task.IsMap() ? FindEntry(task, "reference") : nullptr;
    std::vector<double> reference;
    if (given && given->value.IsList()) {
      for (const Node& item : given->value.items)
        if (const auto number = ReadValue(item, {ValueType::kNumber, ""}, "compare.tasks.reference", errors_))
          reference.push_back(number->get<double>());
    }
    if (reference.size() != 2 || reference[0] == reference[1])
      errors_->Add(given ? given->mark : task.mark,
                   "compare.tasks: expected reference: [worst, best], the scores for 0 and 1 on the common scale, such as the "
                   "returns of uniform actions and of a good policy; got " +
                       (given ? Describe(given->value) : std::string("none")));
    return reference;
  }

  // Checks tasks and arms together.
  void CheckTasks() {
    if (!arms()) return;  // CheckLooks reports it
    if (IsOfSpeed(terms_))
      errors_->Add(tasks_->mark,
                   fmt::format("compare.tasks: expected a compare.metric of learning, got {}, a measure of speed or time",
                               *terms_.metric));
    // The reference of a task gives the better direction of its scores.
    const int direction = terms_.tasks.front().direction();
    if (!terms_.direction) terms_.direction = direction > 0 ? "up" : "down";
    for (const CompareTask& task : terms_.tasks) {
      if ((task.direction() > 0 ? "up" : "down") != *terms_.direction)
        errors_->Add(
            tasks_->mark,
            fmt::format("compare.tasks: reference of '{}': expected [worst, best], where {} is better, got [{:g}, {:g}]",
                        task.name, *terms_.direction, task.reference[0], task.reference[1]));
    }
    CheckArmsOfTasks();
  }

  void CheckArmsOfTasks() {
    std::set<std::string> first;
    for (const Node& task : tasks_->value.items) {
      std::set<std::string> names, budgets;
      for (const Node& arm : arms()->value.items) {
        if (!IsOf(arm, NameOf(task))) continue;
        if (!names.insert(NameOf(arm)).second)
          errors_->Add(arm.mark, fmt::format("compare.arms: two arms on task '{}' are named '{}'", NameOf(task), NameOf(arm)));
        budgets.insert(BudgetText(arm));
        CheckOverlap(arm, task);
      }
      if (budgets.size() > 1)
        errors_->Add(arms()->mark,
                     fmt::format("compare.arms: the arms on task '{}' have unequal budgets; a comparison needs equal ones",
                                 NameOf(task)));
      if (first.empty()) first = names;
      if (names.size() < 2 || names != first)
        errors_->Add(
            arms()->mark,
            fmt::format("compare.arms: expected the same two or more arms on each task, but '{}' has {} and others have {}",
                        NameOf(task), fmt::join(names, ", "), fmt::join(first, ", ")));
      arms_ = terms_.tasks.size() * first.size();
    }
    for (const Node& arm : arms()->value.items) {
      const Entry* own = FindEntry(arm, "task");
      const auto is_it = [&](const CompareTask& task) { return own && task.name == own->value.text; };
      if (own && std::ranges::none_of(terms_.tasks, is_it))
        errors_->Add(own->mark, fmt::format("compare.arms: unknown task '{}'", own->value.text));
    }
  }

  void CheckOverlap(const Node& arm, const Node& task) {
    std::set<std::string> of_task;
    for (const Entry& value : ValuesOf(task)) of_task.insert(value.key);
    for (const Entry& of_arm : ValuesOf(arm)) {
      const std::string* const other = FindOverlap(of_task, of_arm.key);
      if (!other) continue;
      errors_->Add(of_arm.mark, fmt::format("compare.arms: '{}' of arm '{}' and '{}' of task '{}' set the same value; keep one",
                                            of_arm.key, NameOf(arm), *other, NameOf(task)));
      return;
    }
  }

  void ReadLooks(const Entry& entry) {
    if (!entry.value.IsMap()) {
      errors_->Add(entry.value.mark, "compare.looks: expected {n: 5, max: 5}, got " + Describe(entry.value));
      return;
    }
    for (const Entry& key : entry.value.entries) {
      if (key.key == "n") {
        if (const auto n = Value(key, {ValueType::kInteger, "[1,10000]"}, "compare.looks.n"))
          terms_.looks.n = n->get<uint64_t>();
      } else if (key.key == "max") {
        if (const auto most = Value(key, {ValueType::kInteger, "[1,100]"}, "compare.looks.max"))
          terms_.looks.max = most->get<uint64_t>();
      } else {
        errors_->Add(key.mark, fmt::format("compare.looks: expected 'n' or 'max', got '{}'", key.key));
      }
    }
  }

  void CheckLooks() {
    if (!arms()) {
      errors_->Add(section_.mark, "compare: missing key 'arms', the settings to compare");
    } else if (!CanTellApart(terms_, arms_)) {
      const size_t n = ScoresOfALook(terms_, arms_);
      const Entry* looks = FindEntry(section_.value, "looks");
      errors_->Add(looks ? looks->mark : section_.mark,
                   fmt::format("compare.looks: {} {} can never show a difference at {:g} %; set n: {} or more{}",
                               n * terms_.looks.max, IsOfSpeed(terms_) ? "block" : "seeds", terms_.alpha * 100,
                               LeastScoresOfALook(terms_, arms_), terms_.looks.max == 1 ? ", or max: 2" : ""));
    }
  }

  const Entry& section_;
  Errors* errors_;
  CompareTerms terms_;
  const Entry* tasks_ = nullptr;
  size_t arms_ = 0;  // on all tasks
};

Node Scalar(const Mark& mark, const std::string& text) {
  Node node;
  node.kind = Node::Kind::kScalar;
  node.mark = mark;
  node.text = text;
  return node;
}

}  // namespace

std::optional<CompareTerms> TakeComparison(ExperimentText* text, Errors* errors) {
  if (!text->compare) return std::nullopt;
  const Entry section = *std::exchange(text->compare, std::nullopt);
  for (const auto& [other, name] : {std::pair{&text->sweep, "sweep"}, {&text->stages, "stages"}}) {
    if (!*other) continue;
    errors->Add((*other)->mark,
                fmt::format("{}: the arms of compare: already define all points; keep one of the two keys", name));
    return std::nullopt;
  }
  const Node* kind = FindPath(text->root, "report.kind");
  if (kind && kind->text != "ab") {
    errors->Add(kind->mark, fmt::format("report.kind: expected ab or no kind next to compare:, got '{}'", kind->text));
    return std::nullopt;
  }
  CompareReader reader(section, errors);
  std::optional<CompareTerms> terms = reader.Read();
  if (!terms) return std::nullopt;
  SetPath(&text->root, "report.kind", section.mark, Scalar(section.mark, "ab"));
  if (IsOfSpeed(*terms)) SetPath(&text->root, "report.timing", section.mark, Scalar(section.mark, "true"));
  Entry sweep;
  sweep.key = "sweep";
  sweep.mark = section.mark;
  sweep.value.kind = Node::Kind::kMap;
  sweep.value.mark = section.value.mark;
  sweep.value.entries.push_back(reader.List());
  text->sweep = std::move(sweep);
  return terms;
}

}  // namespace backplane
