#include "text/change_arguments.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/file_name.hpp"
#include "base/json_fields.hpp"
#include "base/json_text.hpp"
#include "base/shell_argument.hpp"

namespace backplane {
namespace {

using nlohmann::json;

std::string ValueText(const nlohmann::json& value) {
  return value.is_null() ? "not set" : value.is_string() ? value.get<std::string>() : JsonText(value);
}

}  // namespace

std::string ChangeText(const Fix& fix) {
  std::string text = fmt::format("{}: {} -> {}", fix.path, ValueText(fix.from), ValueText(fix.to));
  for (const auto& [path, value] : fix.also) text += fmt::format(", {}: {}", path, ValueText(value));
  return fix.swept ? text + ", in sweep" + (fix.point.empty() ? "" : " of " + fix.point) : text;
}

ChangeArguments ArgumentsOf(const Fix& fix) {
  ChangeArguments arguments;
  // Keeps the old value in the axis as a reference; a named point keeps it anyway.
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

bool GivesWay(const Fix& fix, const std::string& typed) {
  const std::string place = typed.substr(typed.starts_with('+') ? 1 : 0, typed.find('=') - (typed.starts_with('+') ? 1 : 0));
  const bool of_also = std::any_of(fix.also.begin(), fix.also.end(), [&](const auto& also) { return also.first == place; });
  return of_also || place == fix.path || (!fix.point.empty() && place == fix.point + ":" + fix.path);
}

std::filesystem::path TryFolder(const std::filesystem::path& out) { return FolderName(out).string() + "_try"; }

std::vector<std::string> SetsForAnotherFolder(const json& output, const std::string& folder) {
  std::vector<std::string> sets;
  if (!Text(At(output, "report_dir")).empty()) sets.push_back("output.report_dir=" + folder + "/report");
  if (std::filesystem::path(Text(At(output, "progress_file"))).is_absolute())
    sets.push_back("output.progress_file=progress.json");
  return sets;
}

std::string SettingsForAnotherFolder(const json& output, const std::string& folder) {
  std::string text;
  for (const std::string& set : SetsForAnotherFolder(output, folder)) text += " --set " + ShellArgument(set);
  return text;
}

}  // namespace backplane
