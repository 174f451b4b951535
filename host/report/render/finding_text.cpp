#include "render/finding_text.hpp"

#include <fmt/format.h>

#include "base/json_text.hpp"
#include "base/shell_argument.hpp"
#include "render/document.hpp"
#include "text/format_number.hpp"

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
  std::string text = fmt::format("{}: {} -> {}", fix.path, ValueText(fix.from), ValueText(fix.to));
  for (const auto& [path, value] : fix.also) text += fmt::format(", {}: {}", path, ValueText(value));
  return fix.swept ? text + ", in sweep" + (fix.point.empty() ? "" : " of " + fix.point) : text;
}

ChangeArguments ArgumentsOf(const Fix& fix) {
  ChangeArguments arguments;
  // The value that was stays an axis' value, so that there is something to compare with; a point that is named stays anyway.
  const std::string to = fix.path + "=" + (fix.swept && fix.point.empty() ? JsonText(fix.from) + "," : "") + JsonText(fix.to);
  if (fix.swept) {
    arguments.sweep.push_back(fix.point.empty() ? to : fix.point + ":" + to);
  } else {
    arguments.set.push_back(to);
  }
  for (const auto& [path, value] : fix.also) arguments.set.push_back(path + "=" + JsonText(value));
  return arguments;
}

std::string ChangeArgument(const Fix& fix) {
  const ChangeArguments arguments = ArgumentsOf(fix);
  std::string text;
  for (const std::string& sweep : arguments.sweep) text += " --sweep " + ShellArgument(sweep);
  for (const std::string& set : arguments.set) text += " --set " + ShellArgument(set);
  return text.substr(1);
}

std::string ChangeCommand(const Fix& fix) {
  return fix.command.empty() ? "backplane run FILE " + ChangeArgument(fix) : fix.command;
}

}  // namespace backplane
