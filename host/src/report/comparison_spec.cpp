#include "report/comparison_spec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/file_name.hpp"
#include "base/json_text.hpp"
#include "base/suggest.hpp"
#include "report/time_section.hpp"

namespace backplane {
namespace {

using nlohmann::json;

const char* const kDefaultColumns[] = {"SPS", "wall_s", "return", "eval/return", "rss_peak_mb"};

// Of the host's own measures; a plugin's are told by the file, or by what it registered.
const std::map<std::string, std::pair<int, const char*>> kKnown = {
    {"SPS", {1, "1/s"}},          {"sampling_sps", {1, "1/s"}},       {"wall_s", {-1, "s"}}, {"minutes", {-1, "min"}},
    {"attempt_s", {-1, "s"}},     {"seconds_per_episode", {-1, "s"}}, {"return", {1, ""}},   {"eval/return", {1, ""}},
    {"rss_peak_mb", {-1, "MiB"}}, {"vram_peak_mb", {-1, "MiB"}},
};

// Reads the entries of one key of `report` and says what is wrong with which of them.
class Reader {
 public:
  Reader(std::string path, std::vector<SpecError>* errors) : path_(std::move(path)), errors_(errors) {}

  void Fail(const std::string& why) const { errors_->push_back({path_, where_.empty() ? why : where_ + ": " + why}); }
  void At(std::string where) { where_ = std::move(where); }

  // False, and an error, if there is a key that `known` does not have or `object` is none.
  bool Knows(const json& object, const std::vector<std::string>& known) const {
    if (!object.is_object()) {
      Fail(fmt::format("wanted a mapping with {}, found {}", fmt::join(known, ", "), JsonText(object)));
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
    Fail(fmt::format("'{}' should be text, found {}", key, JsonText(object.at(key))));
    return otherwise;
  }

  std::optional<Expression> Formula(const json& text) const {
    if (!text.is_string()) {
      Fail(fmt::format("wanted a measure as text, found {}", JsonText(text)));
      return std::nullopt;
    }
    try {
      return Expression::OfMeasures(text.get<std::string>());
    } catch (const NoValue& error) {
      Fail(fmt::format("'{}', column {}: {}", text.get<std::string>(), error.offset + 1, error.why));
      return std::nullopt;
    }
  }

  std::optional<MeasureSpec> Measure(const json& entry) const {
    const bool brief = !entry.is_object();
    if (!brief && !Knows(entry, {"measure", "title", "unit", "direction", "digits"})) return std::nullopt;
    if (!brief && !entry.contains("measure")) {
      Fail("missing key 'measure'");
      return std::nullopt;
    }
    std::optional<Expression> expression = Formula(brief ? entry : entry.at("measure"));
    if (!expression) return std::nullopt;
    MeasureSpec measure{std::move(*expression), "", "", 0, 4};
    measure.title = measure.expression.text();
    if (const auto known = kKnown.find(measure.title); known != kKnown.end()) {
      measure.direction = known->second.first;
      measure.unit = known->second.second;
    } else if (measure.title.starts_with("time/") || measure.title.starts_with("phase/")) {
      measure.unit = measure.title.ends_with("_s") ? "s" : "%";
    }
    if (brief) return measure;
    measure.title = Text(entry, "title", measure.title);
    measure.unit = Text(entry, "unit", measure.unit);
    const std::string direction = Text(entry, "direction");
    if (!direction.empty() && direction != "up" && direction != "down")
      Fail(fmt::format("'direction' should be up or down, found '{}'", direction));
    if (!direction.empty()) measure.direction = direction == "up" ? 1 : -1;
    if (entry.contains("digits")) {
      const json& digits = entry.at("digits");
      if (digits.is_number_integer() && digits >= 1 && digits <= 15) {
        measure.digits = digits.get<int>();
      } else {
        Fail(fmt::format("'digits' should be a whole number from 1 to 15, found {}", JsonText(digits)));
      }
    }
    return measure;
  }

  std::vector<json> OneOrMany(const json& entry) const {
    return entry.is_array() ? entry.get<std::vector<json>>() : std::vector<json>{entry};
  }

 private:
  std::string path_, where_;
  std::vector<SpecError>* errors_;
};

std::vector<MeasureSpec> Columns(const json& columns, std::vector<SpecError>* errors) {
  Reader reader("report.columns", errors);
  std::vector<MeasureSpec> read;
  if (columns.is_null()) {
    for (const char* name : kDefaultColumns) read.push_back(*reader.Measure(name));
    return read;
  }
  if (!columns.is_array()) {
    reader.Fail(fmt::format("wanted a list of measures, found {}", JsonText(columns)));
    return read;
  }
  for (size_t i = 0; i < columns.size(); ++i) {
    reader.At(fmt::format("entry {}", i + 1));
    if (std::optional<MeasureSpec> measure = reader.Measure(columns[i])) read.push_back(std::move(*measure));
  }
  return read;
}

std::optional<FigureSpec> OneFigure(const Reader& reader, const json& entry) {
  static const std::map<std::string, std::pair<FigureSpec::Kind, std::vector<std::string>>> kKinds = {
      {"scatter", {FigureSpec::Kind::kScatter, {"file", "title", "x", "y"}}},
      {"curves", {FigureSpec::Kind::kCurves, {"file", "title", "x", "y"}}},
      {"bars", {FigureSpec::Kind::kBars, {"file", "title", "y"}}},
      {"table", {FigureSpec::Kind::kTable, {"file", "title"}}}};
  const auto kind = entry.is_object() && entry.size() == 1 ? kKinds.find(entry.begin().key()) : kKinds.end();
  if (kind == kKinds.end()) {
    reader.Fail(fmt::format("wanted one of scatter, curves, bars, table with its keys, found {}", JsonText(entry)));
    return std::nullopt;
  }
  const json& body = entry.begin().value();
  if (!reader.Knows(body, kind->second.second)) return std::nullopt;
  FigureSpec figure;
  figure.kind = kind->second.first;
  figure.file = reader.Text(body, "file");
  figure.title = reader.Text(body, "title");
  if (!IsFileName(figure.file) || !figure.file.ends_with(".png")) {
    reader.Fail(fmt::format("'file' should be a name that ends with .png, found '{}'", figure.file));
  }
  if (figure.kind == FigureSpec::Kind::kTable) return figure;
  if (!body.contains("y")) {
    reader.Fail("missing key 'y'");
    return std::nullopt;
  }
  if (figure.kind == FigureSpec::Kind::kCurves) {
    figure.against = reader.Text(body, "x", "env_steps");
    if (figure.against != "env_steps" && figure.against != "iteration" && figure.against != "time_s")
      reader.Fail(fmt::format("'x' of curves should be env_steps, iteration or time_s, found '{}'", figure.against));
    for (const json& name : reader.OneOrMany(body.at("y"))) {
      if (name.is_string()) {
        figure.curves.push_back(name.get<std::string>());
      } else {
        reader.Fail(fmt::format("'y' should be names of recorded values, found {}", JsonText(name)));
      }
    }
    return figure;
  }
  for (const json& measure : reader.OneOrMany(body.at("y"))) {
    if (std::optional<MeasureSpec> read = reader.Measure(measure)) figure.y.push_back(std::move(*read));
  }
  if (figure.kind == FigureSpec::Kind::kScatter) {
    figure.x = body.contains("x") ? reader.Measure(body.at("x")) : std::nullopt;
    if (!body.contains("x")) reader.Fail("missing key 'x'");
    if (figure.y.size() > 1) reader.Fail("'y' of a scatter should be one measure");
    if (!figure.x || figure.y.size() != 1) return std::nullopt;
  }
  return figure;
}

std::vector<FigureSpec> FiguresOf(const json& figures, std::vector<SpecError>* errors) {
  Reader reader("report.figures", errors);
  std::vector<FigureSpec> read;
  if (figures.is_null()) return read;
  if (!figures.is_array()) {
    reader.Fail(fmt::format("wanted a list of figures, found {}", JsonText(figures)));
    return read;
  }
  for (size_t i = 0; i < figures.size(); ++i) {
    reader.At(fmt::format("entry {}", i + 1));
    std::optional<FigureSpec> figure = OneFigure(reader, figures[i]);
    if (!figure) continue;
    const bool again =
        std::any_of(read.begin(), read.end(), [&](const FigureSpec& other) { return other.file == figure->file; });
    if (again) reader.Fail(fmt::format("the file '{}' is written by another figure already", figure->file));
    if (figure->file == std::string(kTimeFigure) + ".png")
      reader.Fail(fmt::format("the file '{}' is written by the report itself", figure->file));
    read.push_back(std::move(*figure));
  }
  return read;
}

std::optional<SelectSpec> Select(const json& select, std::vector<SpecError>* errors) {
  Reader reader("report.select", errors);
  if (select.is_null() || !reader.Knows(select, {"metric", "direction", "where", "write"})) return std::nullopt;
  if (!select.contains("metric")) {
    reader.Fail("missing key 'metric'");
    return std::nullopt;
  }
  std::optional<MeasureSpec> metric = reader.Measure(select.at("metric"));
  if (!metric) return std::nullopt;
  SelectSpec spec{std::move(*metric), true, std::nullopt, reader.Text(select, "write", "selected.yaml")};
  const std::string direction = reader.Text(select, "direction", spec.metric.direction < 0 ? "minimize" : "maximize");
  if (direction != "maximize" && direction != "minimize")
    reader.Fail(fmt::format("'direction' should be maximize or minimize, found '{}'", direction));
  spec.maximize = direction != "minimize";
  if (select.contains("where")) spec.where = reader.Formula(select.at("where"));
  if (!IsFileName(spec.write) || !spec.write.ends_with(".yaml"))
    reader.Fail(fmt::format("'write' should be a name that ends with .yaml, found '{}'", spec.write));
  return spec;
}

}  // namespace

bool IsHostMeasure(const std::string& name) { return kKnown.contains(name); }

ComparisonSpec ReadComparisonSpec(const ReportConfig& config, std::vector<SpecError>* errors) {
  return {Columns(config.columns, errors), FiguresOf(config.figures, errors), Select(config.select, errors)};
}

}  // namespace backplane
