// --sweep path=1,2,4 or point:path=1,2,4: an axis on the command line.
#include <fmt/format.h>

#include "base/shell_argument.hpp"
#include "config/short_forms.hpp"
#include "sweep/axis_values.hpp"
#include "sweep/grammar.hpp"

namespace backplane {
namespace {

constexpr int kFirstOrder = 2000;  // after every file and --set

// "1,2,4" as a YAML list whose values keep their columns: the bracket takes the place of '=' or of the '(' of range and choice.
struct ListText {
  std::string text;
  bool range = false;
  int bracket = 0;  // column of the one that was added
};

ListText AsList(const std::string& text, size_t equals) {
  ListText list;
  size_t open = equals;
  std::string values = text.substr(equals + 1);
  for (const char* word : {"range(", "choice("}) {
    if (!values.starts_with(word) || !values.ends_with(")")) continue;
    const size_t length = std::string(word).size();
    list.range = values.starts_with("range");
    open = equals + length;
    values = values.substr(length, values.size() - length - 1);
  }
  list.text = std::string(open, ' ') + "[" + values + "]";
  list.bracket = static_cast<int>(open) + 1;
  return list;
}

// Absent after an error. The added bracket may close one of the user's. Then the user's bracket is the error.
std::optional<Node> ReadList(const ListText& list, const std::shared_ptr<Source>& source, Errors* errors) {
  Errors found, in_values;
  std::optional<Node> values = ParseArgument(list.text, source, &found);
  if (values) return values;
  ParseArgument(list.text.substr(0, list.text.size() - 1), source, &in_values);
  const std::vector<Diagnostic> sorted = in_values.Sorted();
  const bool is_own = !sorted.empty() && sorted.front().column != list.bracket;
  errors->AddNewPlaces(is_own ? in_values : found);
  return std::nullopt;
}

// "--set sweep.random=..." for loguniform(1e-5,1e-2) and the like; "" without two bounds. Absent: it is no distribution.
std::optional<std::string> DrawnInstead(const std::string& path, const std::string& values) {
  const size_t open = values.find('(');
  if (open == values.npos || !values.ends_with(')')) return std::nullopt;
  const std::string name = values.substr(0, open), bounds = values.substr(open + 1, values.size() - open - 2);
  if (name.find("uniform") == name.npos && name.find("randint") == name.npos && name != "interval") return std::nullopt;
  const size_t comma = bounds.find(',');
  if (comma == bounds.npos || comma == 0 || comma + 1 == bounds.size() || comma != bounds.rfind(',')) return "";
  const std::string ours = name.find("randint") != name.npos ? "int"
                           : name.find("log") != name.npos   ? "log_uniform"
                                                             : "uniform";
  return "--set " + ShellArgument(fmt::format("sweep.random={{trials: 8, space: {{{}: {{{}: [{}]}}}}}}", path, ours, bounds));
}

}  // namespace

std::vector<ShortAxis> ParseShortAxes(const std::vector<std::string>& texts, Errors* errors) {
  std::vector<ShortAxis> axes;
  for (size_t i = 0; i < texts.size(); ++i) {
    const std::string& text = texts[i];
    const auto source = MakeArgumentSource("--sweep", text, kFirstOrder + static_cast<int>(i));
    ShortAxis axis;
    axis.mark = {source, 1, 1};
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
      errors->Add(axis.mark, fmt::format("expected path=value,value,... or point:path=value,..., got '{}'", text));
      continue;
    }
    const size_t colon = text.rfind(':', equals);  // a path has none
    const size_t path = colon == std::string::npos ? 0 : colon + 1;
    if (colon == 0) {
      errors->Add(axis.mark, fmt::format("expected the name of a point before the ':', got '{}'", text));
      continue;
    }
    if (colon != std::string::npos) axis.point = text.substr(0, colon);
    axis.path = WithTodaysName(text.substr(path, equals - path));
    if (const std::optional<std::string> drawn = DrawnInstead(axis.path, text.substr(equals + 1))) {
      errors->Add({source, 1, static_cast<int>(equals) + 2},
                  fmt::format("{}: expected values, range(...) or choice(...), got '{}'", axis.path, text.substr(equals + 1)),
                  ErrorCode::kOther, *drawn);
      continue;
    }
    const ListText list = AsList(text, equals);
    const std::optional<Node> values = ReadList(list, source, errors);
    if (!values) continue;
    axis.values = list.range ? ReadRange(*values, axis.path, errors) : values->items;
    if (!axis.values.empty()) axes.push_back(std::move(axis));
  }
  return axes;
}

}  // namespace backplane
