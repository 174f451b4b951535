#include "sweep/compare_section.hpp"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "base/suggest.hpp"
#include "config/value.hpp"
#include "expression/expression.hpp"
#include "record/compare_looks.hpp"
#include "yaml/errors.hpp"

namespace backplane {
namespace {

using nlohmann::json;

class CompareReader {
 public:
  CompareReader(const Entry& section, Errors* errors) : section_(section), errors_(errors) {}

  // Absent after errors.
  std::optional<CompareTerms> Read() {
    const size_t before = errors_->size();
    if (!section_.value.IsMap()) {
      errors_->Add(section_.value.mark, "compare: wanted a mapping with arms, found " + Describe(section_.value));
      return std::nullopt;
    }
    for (const Entry& entry : section_.value.entries) ReadKey(entry);
    if (errors_->size() > before) return std::nullopt;
    CheckLooks();
    return errors_->size() > before ? std::nullopt : std::optional(terms_);
  }

  const Entry* arms() const { return FindEntry(section_.value, "arms"); }

 private:
  std::optional<json> Value(const Entry& entry, const ValueRule& rule, const char* name) {
    return ReadValue(entry.value, rule, name, errors_);
  }

  void ReadKey(const Entry& entry) {
    if (entry.key == "arms") return ReadArms(entry);
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
      const std::vector<Candidate> known = {{"arms", "arms"},     {"metric", "metric"}, {"direction", "direction"},
                                            {"margin", "margin"}, {"looks", "looks"},   {"alpha", "alpha"},
                                            {"list", "arms"},     {"points", "arms"}};
      errors_->Add(entry.mark, fmt::format("unknown key '{}' in compare{}", entry.key, DidYouMean(Nearest(entry.key, known))));
    }
  }

  void ReadMetric(const Entry& entry, const std::string& text) {
    try {
      Expression::OfMeasures(text);
      terms_.metric = text;
    } catch (const NoValue& error) {
      errors_->Add(entry.value.mark, fmt::format("compare.metric: wanted a measure or an expression of measures, found '{}': {}",
                                                 text, error.why));
    }
  }

  void ReadArms(const Entry& entry) {
    arms_ = entry.value.IsList() ? entry.value.items.size() : 0;
    if (arms_ < 2)
      errors_->Add(entry.value.mark,
                   "compare.arms: wanted two or more, such as [{name: a}, {name: b, learner.options.lr: 0.001}], found " +
                       (arms_ == 1 ? std::string("one") : Describe(entry.value)));
    std::set<std::string> names;
    for (const Node& arm : entry.value.items) {
      const Entry* name = arm.IsMap() ? FindEntry(arm, "name") : nullptr;
      if (arm.IsMap() && !name) errors_->Add(arm.mark, "compare.arms: an arm needs a name, which the verdict speaks of");
      if (name && !names.insert(name->value.text).second)
        errors_->Add(name->mark, fmt::format("compare.arms: two arms are called '{}'", name->value.text));
      for (const Entry& value : arm.entries) {
        if (value.key.starts_with("budget"))
          errors_->Add(
              value.mark,
              fmt::format("compare.arms: '{}' is no arm's own: arms with unequal budgets are no comparison", value.key));
      }
    }
  }

  void ReadLooks(const Entry& entry) {
    if (!entry.value.IsMap()) {
      errors_->Add(entry.value.mark, "compare.looks: wanted {n: 5, max: 5}, found " + Describe(entry.value));
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
        errors_->Add(key.mark, fmt::format("compare.looks has 'n' and 'max'; found '{}'", key.key));
      }
    }
  }

  void CheckLooks() {
    if (!arms()) {
      errors_->Add(section_.mark, "compare: missing key 'arms', what is compared");
    } else if (!CanTellApart(terms_, arms_)) {
      const size_t n = ScoresOfALook(terms_, arms_);
      const Entry* looks = FindEntry(section_.value, "looks");
      errors_->Add(looks ? looks->mark : section_.mark,
                   fmt::format("compare.looks: {} {} can never show a difference at {:g} %; wanted n: {} or more{}",
                               n * terms_.looks.max, IsOfSpeed(terms_) ? "block" : "seeds", terms_.alpha * 100,
                               LeastScoresOfALook(terms_, arms_), terms_.looks.max == 1 ? ", or max: 2" : ""));
    }
  }

  const Entry& section_;
  Errors* errors_;
  CompareTerms terms_;
  size_t arms_ = 0;
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
                fmt::format("{}: stands beside compare:, whose arms are all points there are; keep one of them", name));
    return std::nullopt;
  }
  const Node* kind = FindPath(text->root, "report.kind");
  if (kind && kind->text != "ab") {
    errors->Add(kind->mark, fmt::format("report.kind: wanted ab with compare:, or none, found '{}'", kind->text));
    return std::nullopt;
  }
  CompareReader reader(section, errors);
  std::optional<CompareTerms> terms = reader.Read();
  if (!terms) return std::nullopt;
  SetPath(&text->root, "report.kind", section.mark, Scalar(section.mark, "ab"));
  if (IsOfSpeed(*terms)) SetPath(&text->root, "report.timing", section.mark, Scalar(section.mark, "true"));
  Entry list = *reader.arms();
  list.key = "list";
  Entry sweep;
  sweep.key = "sweep";
  sweep.mark = section.mark;
  sweep.value.kind = Node::Kind::kMap;
  sweep.value.mark = section.value.mark;
  sweep.value.entries.push_back(std::move(list));
  text->sweep = std::move(sweep);
  return terms;
}

}  // namespace backplane
