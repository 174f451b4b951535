#include "kinds/comparison_spec.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/file_name.hpp"
#include "base/json_text.hpp"
#include "base/suggest.hpp"
#include "kinds/comparison_figures.hpp"
#include "kinds/host_measures.hpp"
#include "kinds/phases_figure.hpp"
#include "kinds/resource_figures.hpp"
#include "kinds/time_section.hpp"
#include "results/reduction.hpp"

namespace backplane {
namespace {

using nlohmann::json;

const char* const kDefaultColumns[] = {"SPS", "wall_s", "return", "eval/return", "rss_peak_mb"};

// The direction and the unit of measures that the host knows.
void SetKnownUnit(MeasureSpec* measure) {
  if (const HostMeasure* known = FindHostMeasure(measure->title)) {
    measure->direction = known->direction;
    measure->unit = known->unit;
  } else if (measure->title.starts_with("time/") || measure->title.starts_with("phase/")) {
    measure->unit = measure->title.ends_with("_s") ? "s" : "%";
  }
  if (GoalOfMeasure(measure->title)) measure->direction = measure->StepsGoal() ? -1 : 1;
  if (measure->StepsGoal()) measure->unit = "env steps";
  const auto reduced = measure->IsOneName() ? SplitReducedName(measure->title) : std::nullopt;
  if (!reduced) return;
  if (const HostMeasure* known = FindHostMeasure(reduced->curve))
    measure->direction = known->direction, measure->unit = UnitAfter(reduced->how, known->unit);
  if (IsWait(reduced->how)) measure->direction = -1, measure->unit = UnitAfter(reduced->how, "");
}

// Reads the entries of one key of `report` and names the entry of each error.
class Reader {
 public:
  Reader(std::string path, std::vector<ReportError>* errors) : path_(std::move(path)), errors_(errors) {}

  void Fail(const std::string& why) const {
    errors_->push_back({path(), fmt::format("{}: {}{}", path_, entry_ ? fmt::format("entry {}: ", *entry_ + 1) : "", why)});
  }
  void At(size_t entry) { entry_ = entry; }
  std::string path() const { return entry_ ? fmt::format("{}.{}", path_, *entry_) : path_; }

  // Returns false and adds an error if `object` is no mapping or has a key that is not in `known`.
  bool Knows(const json& object, const std::vector<std::string>& known) const {
    if (!object.is_object()) {
      Fail(fmt::format("expected a mapping with {}, got {}", fmt::join(known, ", "), JsonText(object)));
      return false;
    }
    bool good = true;
    for (const auto& [key, value] : object.items()) {
      if (std::find(known.begin(), known.end(), key) != known.end()) continue;
      Fail(fmt::format("unknown key '{}'{}", key, DidYouMean(Nearest(key, Candidates(known)))));
      good = false;
    }
    return good;
  }

  std::string Text(const json& object, const char* key, const std::string& otherwise = "") const {
    if (!object.contains(key) || object.at(key).is_null()) return otherwise;
    if (object.at(key).is_string()) return object.at(key).get<std::string>();
    Fail(fmt::format("{}: expected text, got {}", key, JsonText(object.at(key))));
    return otherwise;
  }

  std::optional<Expression> Formula(const json& text) const {
    if (!text.is_string()) {
      Fail(fmt::format("expected a measure as text, got {}", JsonText(text)));
      return std::nullopt;
    }
    try {
      Expression expression = Expression::OfMeasures(text.get<std::string>());
      for (const std::string& name : expression.paths())
        if (const auto why = WhyNoReduction(name)) Fail(*why);
      return expression;
    } catch (const NoValue& error) {
      Fail(fmt::format("'{}', column {}: {}", text.get<std::string>(), error.offset + 1, error.why));
      return std::nullopt;
    }
  }

  std::optional<MeasureSpec> Measure(const json& entry) const {
    const bool brief = !entry.is_object();
    if (!brief && !Knows(entry, {"measure", "title", "unit", "direction", "digits", "detail"})) return std::nullopt;
    if (!brief && !entry.contains("measure")) {
      Fail("missing key 'measure'");
      return std::nullopt;
    }
    std::optional<Expression> expression = Formula(brief ? entry : entry.at("measure"));
    if (!expression) return std::nullopt;
    MeasureSpec measure{std::move(*expression), "", "", 0, 4, false, path()};
    measure.title = measure.expression.text();
    SetKnownUnit(&measure);
    if (brief) return measure;
    ReadDetails(entry, &measure);
    return measure;
  }

  std::vector<json> OneOrMany(const json& entry) const {
    return entry.is_array() ? entry.get<std::vector<json>>() : std::vector<json>{entry};
  }

 private:
  void ReadDetails(const json& entry, MeasureSpec* measure) const {
    measure->title = Text(entry, "title", measure->title);
    measure->unit = Text(entry, "unit", measure->unit);
    const std::string direction = Text(entry, "direction");
    if (!direction.empty() && direction != "up" && direction != "down")
      Fail(fmt::format("direction: expected up or down, got '{}'", direction));
    if (!direction.empty()) measure->direction = direction == "up" ? 1 : -1;
    if (entry.contains("digits")) {
      const json& digits = entry.at("digits");
      if (digits.is_number_integer() && digits >= 1 && digits <= 15) {
        measure->digits = digits.get<int>();
      } else {
        Fail(fmt::format("digits: expected a whole number from 1 to 15, got {}", JsonText(digits)));
      }
    }
    if (const auto detail = entry.find("detail"); detail != entry.end()) {
      if (detail->is_boolean()) {
        measure->detail = detail->get<bool>();
      } else {
        Fail(fmt::format("detail: expected true or false, got {}", JsonText(*detail)));
      }
    }
  }

  std::string path_;
  std::optional<size_t> entry_;
  std::vector<ReportError>* errors_;
};

// An episode takes longer for slower steps or for more of them, and the better policy's are often the longer ones.
void AddStepsPerEpisode(const Reader& reader, std::vector<MeasureSpec>* columns) {
  const auto find = [&](std::string_view name) {
    return std::find_if(columns->begin(), columns->end(),
                        [&](const MeasureSpec& column) { return column.expression.text() == name; });
  };
  const auto seconds = find("seconds_per_episode");
  if (seconds == columns->end() || find("steps_per_episode") != columns->end()) return;
  columns->insert(seconds + 1, *reader.Measure("steps_per_episode"));
}

std::vector<MeasureSpec> Columns(const json& columns, std::vector<ReportError>* errors) {
  Reader reader("report.columns", errors);
  std::vector<MeasureSpec> read;
  if (columns.is_null()) {
    for (const char* name : kDefaultColumns) read.push_back(*reader.Measure(name));
    return read;
  }
  if (!columns.is_array()) {
    reader.Fail(fmt::format("expected a list of measures, got {}", JsonText(columns)));
    return read;
  }
  for (size_t i = 0; i < columns.size(); ++i) {
    reader.At(i);
    if (std::optional<MeasureSpec> measure = reader.Measure(columns[i])) read.push_back(std::move(*measure));
  }
  AddStepsPerEpisode(reader, &read);
  return read;
}

std::string CurveAxis(const Reader& reader, const json& object, const std::string& otherwise) {
  const std::string axis = reader.Text(object, "x", otherwise);
  if (axis != "env_steps" && axis != "iteration" && axis != "time_s" && !SumAxis(axis))
    reader.Fail(fmt::format("x: expected env_steps, iteration, time_s or NAME@sum for curves, got '{}'", axis));
  return axis;
}

void ReadCurves(const Reader& reader, const json& body, FigureSpec* figure) {
  const std::string x = CurveAxis(reader, body, "env_steps");
  for (const json& curve : reader.OneOrMany(body.at("y"))) {
    if (curve.is_string()) {
      figure->curves.push_back({curve.get<std::string>(), x, reader.path()});
    } else if (curve.is_object() && curve.contains("name")) {
      if (reader.Knows(curve, {"name", "x"}))
        figure->curves.push_back({reader.Text(curve, "name"), CurveAxis(reader, curve, x), reader.path()});
    } else {
      reader.Fail(fmt::format("y: expected names of recorded values, or {{name: NAME, x: AXIS}}, got {}", JsonText(curve)));
    }
  }
}

// False if a scatter plot lacks an axis.
bool ReadMeasures(const Reader& reader, const json& body, FigureSpec* figure) {
  for (const json& measure : reader.OneOrMany(body.at("y"))) {
    if (std::optional<MeasureSpec> read = reader.Measure(measure)) figure->y.push_back(std::move(*read));
  }
  if (figure->kind != FigureSpec::Kind::kScatter) return true;
  figure->x = body.contains("x") ? reader.Measure(body.at("x")) : std::nullopt;
  if (!body.contains("x")) reader.Fail("missing key 'x'");
  return figure->x && !figure->y.empty();
}

std::optional<FigureSpec> OneFigure(const Reader& reader, const json& entry) {
  static const std::map<std::string, std::pair<FigureSpec::Kind, std::vector<std::string>>> kKinds = {
      {"scatter", {FigureSpec::Kind::kScatter, {"file", "title", "x", "y"}}},
      {"curves", {FigureSpec::Kind::kCurves, {"file", "title", "x", "y"}}},
      {"bars", {FigureSpec::Kind::kBars, {"file", "title", "y"}}},
      {"table", {FigureSpec::Kind::kTable, {"file", "title"}}}};
  const auto kind = entry.is_object() && entry.size() == 1 ? kKinds.find(entry.begin().key()) : kKinds.end();
  if (kind == kKinds.end()) {
    reader.Fail(fmt::format("expected scatter, curves, bars or table with its keys, got {}", JsonText(entry)));
    return std::nullopt;
  }
  const json& body = entry.begin().value();
  if (!reader.Knows(body, kind->second.second)) return std::nullopt;
  FigureSpec figure;
  figure.kind = kind->second.first;
  figure.file = reader.Text(body, "file");
  figure.title = reader.Text(body, "title");
  if (!IsFileName(figure.file) || !figure.file.ends_with(".png")) {
    reader.Fail(fmt::format("file: expected a name that ends with .png, got '{}'", figure.file));
  }
  if (figure.kind == FigureSpec::Kind::kTable) return figure;
  if (!body.contains("y")) {
    reader.Fail("missing key 'y'");
    return std::nullopt;
  }
  if (figure.kind == FigureSpec::Kind::kCurves) {
    ReadCurves(reader, body, &figure);
    return figure;
  }
  const bool good = ReadMeasures(reader, body, &figure);
  return good ? std::optional(std::move(figure)) : std::nullopt;
}

bool IsOfTheReport(const std::string& file) {
  const auto own = {kTimeFigure, kPhasesFigure, kGainsFigure, kResourceBars, kResourceCurves};
  return std::any_of(own.begin(), own.end(), [&](const char* name) { return file == std::string(name) + ".png"; });
}

std::vector<FigureSpec> FiguresOf(const json& figures, std::vector<ReportError>* errors) {
  Reader reader("report.figures", errors);
  std::vector<FigureSpec> read;
  if (figures.is_null()) return read;
  if (!figures.is_array()) {
    reader.Fail(fmt::format("expected a list of figures, got {}", JsonText(figures)));
    return read;
  }
  for (size_t i = 0; i < figures.size(); ++i) {
    reader.At(i);
    std::optional<FigureSpec> figure = OneFigure(reader, figures[i]);
    if (!figure) continue;
    const bool again =
        std::any_of(read.begin(), read.end(), [&](const FigureSpec& other) { return other.file == figure->file; });
    if (again) reader.Fail(fmt::format("file: another figure already writes '{}'", figure->file));
    if (IsOfTheReport(figure->file)) reader.Fail(fmt::format("file: the report itself writes '{}'", figure->file));
    read.push_back(std::move(*figure));
  }
  return read;
}

std::optional<SelectSpec> Select(const Reader& reader, const json& select) {
  if (!reader.Knows(select, {"metric", "direction", "where", "write"})) return std::nullopt;
  if (!select.contains("metric")) {
    reader.Fail("missing key 'metric'");
    return std::nullopt;
  }
  std::optional<MeasureSpec> metric = reader.Measure(select.at("metric"));
  if (!metric) return std::nullopt;
  SelectSpec spec{std::move(*metric), std::nullopt, std::nullopt, reader.Text(select, "write", "selected.yaml")};
  const std::string direction = reader.Text(select, "direction");
  if (direction == "maximize" || direction == "minimize") {
    spec.says_maximize = direction == "maximize";
  } else if (!direction.empty()) {
    reader.Fail(fmt::format("direction: expected maximize or minimize, got '{}'", direction));
  }
  if (select.contains("where")) spec.where = reader.Formula(select.at("where"));
  if (!IsFileName(spec.write) || !spec.write.ends_with(".yaml"))
    reader.Fail(fmt::format("write: expected a name that ends with .yaml, got '{}'", spec.write));
  return spec;
}

std::vector<SelectSpec> Selections(const json& select, std::vector<ReportError>* errors) {
  Reader reader("report.select", errors);
  std::vector<SelectSpec> read;
  if (select.is_null()) return read;
  const std::vector<json> all = reader.OneOrMany(select);
  for (size_t i = 0; i < all.size(); ++i) {
    if (select.is_array()) reader.At(i);
    std::optional<SelectSpec> spec = Select(reader, all[i]);
    if (!spec) continue;
    const bool again =
        std::any_of(read.begin(), read.end(), [&](const SelectSpec& other) { return other.write == spec->write; });
    if (again) reader.Fail(fmt::format("write: another selection already writes '{}'", spec->write));
    read.push_back(std::move(*spec));
  }
  return read;
}

std::vector<std::string> Notes(const json& notes, std::vector<ReportError>* errors) {
  Reader reader("report.notes", errors);
  std::vector<std::string> read;
  if (notes.is_null()) return read;
  const std::vector<json> all = reader.OneOrMany(notes);
  for (size_t i = 0; i < all.size(); ++i) {
    if (notes.is_array()) reader.At(i);
    if (all[i].is_string()) {
      read.push_back(all[i].get<std::string>());
    } else {
      reader.Fail(fmt::format("expected sentences, got {}", JsonText(all[i])));
    }
  }
  return read;
}

std::vector<const MeasureSpec*> MeasuresIn(const ComparisonSpec& spec) {
  std::vector<const MeasureSpec*> measures;
  for (const MeasureSpec& column : spec.columns) measures.push_back(&column);
  for (const FigureSpec& figure : spec.figures) {
    if (figure.x) measures.push_back(&*figure.x);
    for (const MeasureSpec& y : figure.y) measures.push_back(&y);
  }
  for (const SelectSpec& select : spec.selections) measures.push_back(&select.metric);
  return measures;
}

}  // namespace

std::vector<NamedAt> NamesIn(const ComparisonSpec& spec) {
  std::vector<NamedAt> names;
  for (const MeasureSpec* measure : MeasuresIn(spec)) {
    for (const std::string& name : measure->expression.paths()) names.push_back({name, measure->path});
  }
  for (const FigureSpec& figure : spec.figures) {
    for (const CurveSpec& curve : figure.curves)
      if (SumAxis(curve.against)) names.push_back({curve.against, curve.path});
  }
  for (const SelectSpec& select : spec.selections) {
    if (!select.where) continue;
    for (const std::string& name : select.where->paths()) names.push_back({name, select.metric.path});
  }
  return names;
}

std::vector<NamedAt> CurvesIn(const ComparisonSpec& spec) {
  std::vector<NamedAt> names;
  for (const FigureSpec& figure : spec.figures) {
    for (const CurveSpec& curve : figure.curves) names.push_back({curve.name, curve.path});
  }
  return names;
}

std::optional<std::string> SumAxis(const std::string& axis) {
  const auto reduced = SplitReducedName(axis);
  return reduced && reduced->how == "sum" ? std::optional(reduced->curve) : std::nullopt;
}

std::optional<MeasureSpec> MeasureOfText(const std::string& text) {
  std::vector<ReportError> errors;
  std::optional<MeasureSpec> measure = Reader("", &errors).Measure(text);
  return errors.empty() ? std::move(measure) : std::nullopt;
}

ComparisonSpec ReadComparisonSpec(const ReportSection& config, std::vector<ReportError>* errors) {
  ComparisonSpec spec{Columns(config.columns, errors), FiguresOf(config.figures, errors), Selections(config.select, errors),
                      Notes(config.notes, errors)};
  // The direction of a selection is also the direction of its measure.
  for (SelectSpec& select : spec.selections) {
    if (!select.says_maximize || select.metric.direction != 0) continue;
    select.metric.direction = *select.says_maximize ? 1 : -1;
    for (MeasureSpec& column : spec.columns)
      if (column.direction == 0 && column.expression.text() == select.metric.expression.text())
        column.direction = select.metric.direction;
  }
  return spec;
}

}  // namespace backplane
