#include "arguments/parse.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "arguments/command_pages.hpp"
#include "arguments/help_page.hpp"
#include "arguments/mistake.hpp"
#include "base/colour.hpp"
#include "base/error_words.hpp"
#include "base/patient_output.hpp"
#include "log/log.hpp"

namespace backplane {
namespace {

using Run = std::function<int()>;

// Prints the help if a command is missing.
Run WhatThereIs(const CLI::App& app) {
  return [&app] {
    std::fputs(app.help(app.get_parent() ? app.get_parent()->get_name() : "").c_str(), stderr);
    return static_cast<int>(kUsage);
  };
}

// Adds "config check" below `config`. The typed command sets `chosen`.
void AddCommand(CLI::App* root, const Command& command, const std::string& program, Run* chosen) {
  const size_t space = command.name.find(' ');
  CLI::App* above = space == std::string::npos ? root : root->get_subcommand(command.name.substr(0, space));
  CLI::App* app = above->add_subcommand(command.name.substr(space == std::string::npos ? 0 : space + 1), command.help);
  const CommandPage* page = FindCommandPage(command.name);
  if (space == std::string::npos) app->group(page ? std::string(page->group) : command.group);
  if (!command.declare) {
    app->require_subcommand(0, 1);
    app->callback([app, chosen] {
      if (app->get_subcommands().empty()) *chosen = WhatThereIs(*app);
    });
    return;
  }
  Arguments arguments(app, program);
  const Run run = command.declare(&arguments);
  // Every command has --color, which applies to all of its output.
  static const std::map<std::string, ColourWhen> kWhen = {
      {"auto", ColourWhen::kAuto}, {"always", ColourWhen::kAlways}, {"never", ColourWhen::kNever}};
  app->add_option("--color", "Colours; auto: on a terminal unless NO_COLOR is set")
      ->type_name("WHEN")
      ->check(CLI::IsMember(std::vector<std::string>{"auto", "always", "never"}))
      ->each([](const std::string& when) { ChooseColour(kWhen.at(when)); });
  app->callback([app, arguments, run, chosen] {
    if (!app->get_subcommands().empty()) return;  // `gate save` is a subcommand of `gate`, which can also run without one
    arguments.RunChecks();
    *chosen = run;
  });
}

int Complain(const CLI::App& root, const CLI::ParseError& error, const CommandLine& line, const std::string& program) {
  std::optional<Mistake> mistake = FindMistake(root, line.words, line.meant, error);
  if (error.get_exit_code() == 0 && !mistake) return root.exit(error);  // --help, --version
  if (!mistake) mistake = Mistake{error.what(), ""};
  const bool is_whole = mistake->what.find("\nhint: ") != std::string::npos;
  if (!is_whole && mistake->hint.empty()) mistake->hint = CommandTyped(root, line.words) + "--help";
  LogError("backplane: {}{}", mistake->what, is_whole ? "" : "\nhint: " + program + " " + mistake->hint);
  return line.usage_code;
}

// `gate save` does not need the required arguments of `gate`, but CLI11 would parse its name as one of them.
void NeedOnlyWhatWasTyped(CLI::App* root, const std::vector<std::string>& words) {
  if (words.size() < 2) return;
  const auto below = [](CLI::App* app, const std::string& name) {
    const std::vector<CLI::App*> found = app->get_subcommands([&](CLI::App* one) { return one->get_name() == name; });
    return found.empty() ? nullptr : found.front();
  };
  CLI::App* above = below(root, words[0]);
  if (above == nullptr || below(above, words[1]) == nullptr) return;
  for (CLI::Option* option : above->get_options([](CLI::Option*) { return true; })) option->required(false);
}

// The typed command with the commands below it, or all if none was typed. A process is started per trial, and declaring all
// commands would be a sixth of its instructions.
std::vector<Command> NeededCommands(const CommandLine& line) {
  std::vector<Command> needed;
  const auto is_typed = [&](const Command& command) {
    return !line.words.empty() && FirstWord(command.name) == line.words.front();
  };
  std::ranges::copy_if(line.commands, std::back_inserter(needed), is_typed);
  if (!needed.empty()) return needed;
  needed = line.commands;
  if (line.more_commands) std::ranges::move(line.more_commands(), std::back_inserter(needed));
  return needed;
}

// Relative to the working directory, if that is shorter.
std::string TypedProgram(const std::filesystem::path& program) {
  if (!program.is_absolute()) return program.string();
  std::error_code error;
  const std::filesystem::path near = std::filesystem::proximate(program, error);
  return !error && near.string().size() < program.string().size() ? near.string() : program.string();
}

}  // namespace

std::string FirstWord(const std::string& name) { return name.substr(0, name.find(' ')); }

std::vector<std::string> TypedWords(int argc, char** argv) {
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  if (words.empty()) return words;
  if (words.front() == "help") {
    words.erase(words.begin());
    words.push_back("--help");
  }
  return words;
}

std::string TypedHost(int argc, char** argv) {
  std::filesystem::path typed = argc > 0 ? argv[0] : "backplane";
  if (typed.filename().string().starts_with("backplane-")) typed.replace_filename("backplane");
  return typed.string();
}

int RunCommandLine(const CommandLine& line) {
  CLI::App root{line.about, "backplane"};
  root.require_subcommand(0, 1);
  root.set_version_flag("--version", line.version, "Print the version");
  root.formatter(HelpFormatter());  // commands made later take it over
  const std::string program = TypedProgram(line.program);
  Run chosen = WhatThereIs(root);
  const std::vector<std::string>& words = line.words;
  for (const Command& command : NeededCommands(line)) AddCommand(&root, command, program, &chosen);
  NeedOnlyWhatWasTyped(&root, words);
  try {
    if (!words.empty() && words.front() == "complete") {  // asked by a shell, with any words
      PrintCompletions(root, {words.begin() + 1, words.end()}, line.values);
      return kOk;
    }
    try {
      root.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // CLI11 expects reverse order
    } catch (const CLI::ParseError& error) {
      return Complain(root, error, line, program);
    }
    const int code = chosen();
    const bool flushed = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
    if (flushed && !OutputWasGivenUp()) return code;
    LogError("backplane: the output could not be written: {}", flushed ? "nothing reads it" : std::strerror(errno));
    return code == kOk ? static_cast<int>(kFailed) : code;
  } catch (const std::exception& error) {
    LogError("backplane: {}", WordsOf(error));
    return kFailed;
  }
}

}  // namespace backplane
