#include "report/finding_text.hpp"

#include <fmt/format.h>

#include "base/json_path.hpp"
#include "base/json_text.hpp"
#include "base/shell_argument.hpp"
#include "config/yaml_text.hpp"
#include "report/document.hpp"

namespace backplane {
namespace {

std::string WithUnit(double value, const std::string& unit) {
  return FormatNumber(Number{.value = value}, 3) + (unit.empty() ? "" : " " + unit);
}

std::string ValueText(const nlohmann::json& value) {
  return value.is_null() ? "not set" : value.is_string() ? value.get<std::string>() : JsonText(value);
}

}  // namespace

std::string EvidenceText(const Evidence& evidence) {
  std::string text = evidence.measure + ": " + WithUnit(evidence.value, evidence.unit);
  if (evidence.threshold) text += " (threshold " + WithUnit(*evidence.threshold, evidence.unit) + ")";
  return evidence.window.empty() ? text : text + ", " + evidence.window;
}

std::string ChangeText(const Fix& fix) {
  const std::string change = fmt::format("{}: {} -> {}", fix.path, ValueText(fix.from), ValueText(fix.to));
  const std::string of = fix.point.empty() ? "" : " of " + fix.point;
  return fix.swept ? fmt::format("{}, in sweep{}: or by", change, of) : change;
}

std::string ChangeArgument(const Fix& fix) {
  const std::string to = fix.path + "=" + (fix.swept && fix.point.empty() ? JsonText(fix.from) + "," : "") + JsonText(fix.to);
  // The value that was stays an axis' value, so that there is something to compare with; a point that is named stays anyway.
  return (fix.swept ? "--sweep " : "--set ") + ShellArgument(fix.swept && !fix.point.empty() ? fix.point + ":" + to : to);
}

std::string ChangeYaml(const Fix& fix) {
  if (fix.swept) {
    return fmt::format("# in sweep{}: {} (was {}), or\n# backplane run FILE {}\n", fix.point.empty() ? "" : " of " + fix.point,
                       ValueText(fix.to), ValueText(fix.from), ChangeArgument(fix));
  }
  YamlTextOptions options;
  options.comment = [&](const std::string& path) { return path == fix.path ? "was " + JsonText(fix.from) : ""; };
  if (fix.from.is_null()) {
    options.comment = [&](const std::string& path) { return std::string(path == fix.path ? "was not set" : ""); };
  }
  nlohmann::json change;
  SetAtPath(&change, fix.path, fix.to);
  return YamlText(change, options);
}

}  // namespace backplane
