#include "arguments/help_page.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>
#include <vector>

#include "arguments/command_pages.hpp"
#include "arguments/find_option.hpp"
#include "base/screen.hpp"
#include "base/text_columns.hpp"

namespace backplane {
namespace {

constexpr int kNarrowest = 40, kWidest = 100;
constexpr size_t kMostIndent = 26;  // of descriptions; a longer name has a line of its own

struct Row {
  std::string name, text;
};

std::string Section(const std::string& title, const std::vector<Row>& rows, size_t width) {
  size_t indent = 0;
  for (const Row& row : rows) indent = std::max(indent, std::min(kMostIndent, row.name.size() + 4));
  const std::string blank(indent, ' ');
  std::string text = rows.empty() ? "" : "\n" + title + ":\n";
  for (const Row& row : rows) {
    const bool fits = row.name.size() + 4 <= indent;
    if (!fits) text += "  " + row.name + "\n";
    const std::string lines = WrapAfter(fits ? PadRight("  " + row.name, indent) : blank, blank, row.text, width - indent);
    text += lines.empty() && fits ? "  " + row.name + "\n" : lines;
  }
  return text;
}

// The words that the option accepts: of "WHEN:{auto,always,never}".
std::string WordsOf(const CLI::Option& option) {
  std::string type = option.get_type_name();
  const size_t brace = type.find(":{");
  if (brace == type.npos || type.find('|') < brace) return "";  // a type such as "env|learner" contains them
  std::string words = type.substr(brace + 2, type.find('}') - brace - 2);
  for (size_t at = 0; (at = words.find(',', at)) != words.npos; at += 2) words.replace(at, 1, ", ");
  return words;
}

std::string DescriptionOf(const CLI::Option& option) {
  std::string text = option.get_description();
  const std::string words = WordsOf(option), def = option.get_default_str();
  if (!words.empty()) text += fmt::format(" ({})", words);
  if (!def.empty()) text += fmt::format(" (default: {})", def);
  if (option.get_required() && !option.get_positional()) text += " (required)";
  return text;
}

std::string NameOf(const CLI::Option& option) {
  if (option.get_positional()) return ShownType(option);
  std::string name = option.get_snames().empty() ? "    " : "-" + option.get_snames().front() + ", ";
  name += "--" + fmt::format("{}", fmt::join(option.get_lnames(), ", --"));
  const std::string type = ShownType(option);
  if (type.empty()) return name;
  return option.get_items_expected_min() == 0 ? name + (type.starts_with('[') ? "=" : " ") + type : name + " " + type;
}

bool IsHelp(const CLI::App& app, const CLI::Option& option) { return app.get_help_ptr() == &option; }

std::vector<Row> OptionRows(const CLI::App& app, bool positional) {
  std::vector<Row> rows, last;
  for (const CLI::Option* option : app.get_options([](const CLI::Option* one) { return !one->get_group().empty(); })) {
    if (option->get_positional() != positional) continue;
    const bool is_common = IsHelp(app, *option) || option->check_lname("color") || option->check_lname("version");
    (is_common ? last : rows).push_back({NameOf(*option), IsHelp(app, *option) ? "Print this help" : DescriptionOf(*option)});
  }
  rows.insert(rows.end(), last.rbegin(), last.rend());
  return rows;
}

// Commands below `app`: of one group, or all.
std::vector<Row> CommandRows(const CLI::App& app, std::string_view group = "") {
  std::vector<Row> rows;
  for (const CLI::App* one : CommandsBelow(app))
    if (group.empty() || one->get_group() == group) rows.push_back({one->get_name(), one->get_description()});
  return rows;
}

std::string FullName(const CLI::App& app) {
  const CLI::App* above = app.get_parent();
  return above && above->get_parent() ? above->get_name() + " " + app.get_name() : app.get_name();
}

std::string Usage(const CLI::App& app) {
  std::string text = app.get_parent() ? "backplane " + FullName(app) : app.get_name();
  const std::vector<const CLI::Option*> places = app.get_options([](const CLI::Option* one) { return one->get_positional(); });
  if (places.empty() && !CommandsBelow(app).empty()) text += " COMMAND";
  for (const CLI::Option* place : places) {
    const std::string name = ShownType(*place) + (place->get_items_expected_max() > 1 ? "..." : "");
    text += place->get_required() ? " " + name : " [" + name + "]";
  }
  return text + " [OPTIONS]";
}

std::string ExamplesOf(const CLI::App& app, size_t width) {
  const CommandPage* page = FindCommandPage(FullName(app));
  if (page == nullptr) return "";
  std::string text = "\nExamples:\n";
  for (const std::string_view example : page->examples) text += WrapAfter("  ", "      ", std::string(example), width - 6);
  return text + fmt::format("\nDocs: docs/{}\n", page->page);
}

class Formatter : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const override {
    const size_t width = HelpWidth();
    std::string text = WrapAfter("", "", app->get_description(), width);
    text += "\n" + WrapAfter("Usage: ", "         ", Usage(*app), width - 9);
    if (app->get_parent()) text += Section("Commands", CommandRows(*app), width);
    for (const std::string_view group : kCommandGroups)
      if (!app->get_parent()) text += Section(std::string(group), CommandRows(*app, group), width);
    text += Section("Arguments", OptionRows(*app, true), width) + Section("Options", OptionRows(*app, false), width);
    return text + ExamplesOf(*app, width) + (app->get_footer().empty() ? "" : "\n" + app->get_footer() + "\n");
  }
};

}  // namespace

size_t HelpWidth() {
  const Screen screen = DetectScreen(STDOUT_FILENO);
  return static_cast<size_t>(screen.live ? std::clamp(screen.width, kNarrowest, kWidest) : Screen().width);
}

std::string ShownType(const CLI::Option& option) {
  if (option.get_items_expected_max() == 0) return "";
  const std::string type = option.get_type_name();
  return type.substr(0, type.find(":{"));
}

std::shared_ptr<CLI::FormatterBase> HelpFormatter() { return std::make_shared<Formatter>(); }

}  // namespace backplane
