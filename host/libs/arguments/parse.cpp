#include "arguments/parse.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/colour.hpp"
#include "base/error_words.hpp"
#include "base/patient_output.hpp"
#include "base/shell_argument.hpp"
#include "log/log.hpp"

namespace backplane {
namespace {

using Run = std::function<int()>;

// Options of other tools that this program replaces by a default.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kOtherOptions = {{
    {"--resume", "the same command resumes the experiment"},
    {"--continue", "the same command resumes the experiment"},
    {"--restore", "the same command resumes the experiment"},
    {"--overwrite", "--fresh moves old results aside"},
}};

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
  if (!command.group.empty()) app->group(command.group);
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
  app->add_option("--color", "Colours; auto: on a terminal, unless NO_COLOR is set")
      ->type_name("WHEN")
      ->check(CLI::IsMember(std::vector<std::string>{"auto", "always", "never"}))
      ->each([](const std::string& when) { ChooseColour(kWhen.at(when)); });
  app->callback([app, arguments, run, chosen] {
    if (!app->get_subcommands().empty()) return;  // `gate save` is a subcommand of `gate`, which can also run without one
    arguments.RunChecks();
    *chosen = run;
  });
}

std::vector<std::string> CommandNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

std::vector<std::string> OptionNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options([](const CLI::Option* o) { return !o->get_group().empty(); })) {
    for (const std::string& name : option->get_lnames()) {
      names.push_back("--" + name);
    }
  }
  return names;
}

bool TakesNoPlace(const CLI::App& app) {
  return app.get_options([](const CLI::Option* option) { return option->get_positional(); }).empty();
}

// "--set learner.options.lr=1e-3" for `--lr 1e-3`; empty: no name is near. in_full: only for the same name.
std::string MeantSetting(std::vector<Candidate> names, const std::string& option, const std::string& value, bool in_full) {
  std::string key = option.substr(std::min(option.find_first_not_of('-'), option.size()));
  std::ranges::replace(key, '-', '_');
  if (in_full) std::erase_if(names, [&](const Candidate& name) { return name.word != key; });
  std::error_code error;
  const bool is_value = !value.empty() && !std::filesystem::is_regular_file(value, error);
  std::string text;
  for (const std::string& name : Nearest(key, names))
    text += (text.empty() ? "--set " : " or --set ") + ShellArgument(name + "=" + (is_value ? value : "VALUE"));
  return text;
}

// An option of another tool is often a value of the experiment.
std::string ExplainOption(const CommandLine& line, const std::string& name, const std::vector<std::string>& options,
                          size_t at) {
  const std::vector<std::string>& words = line.words;
  const auto* answer = std::ranges::find(kOtherOptions, name, &std::pair<std::string_view, std::string_view>::first);
  if (answer != kOtherOptions.end()) return "unknown option '" + name + "'; " + std::string(answer->second);
  const std::vector<std::string> near = Nearest(name, Candidates(options));
  const size_t equals = words[at].find('=');
  const bool next_is_value = at + 1 < words.size() && !words[at + 1].starts_with("--");
  const std::string value = equals != std::string::npos ? words[at].substr(equals + 1) : next_is_value ? words[at + 1] : "";
  const bool is_begun = !near.empty() && near.front().starts_with(name);
  const bool is_other = !is_begun && line.names_to_set;
  const std::string meant = is_other ? MeantSetting(line.names_to_set(words), name, value, /*in_full=*/!near.empty()) : "";
  return "unknown option '" + name + "'" + (meant.empty() ? DidYouMean(near) : "; did you mean " + meant + "?");
}

// The sentence for a mistyped command or option; empty if the error is another one.
std::string ExplainTypo(const CLI::App& root, const CommandLine& line) {
  const std::vector<std::string>& words = line.words;
  const CLI::App* at = &root;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    std::vector<std::string> commands = CommandNames(*at);
    const std::vector<std::string> options = OptionNames(*at);
    const auto known = [](const std::vector<std::string>& names, const std::string& name) {
      return std::find(names.begin(), names.end(), name) != names.end();
    };
    if (word.starts_with("--") && word.size() > 2) {
      const std::string name = word.substr(0, word.find('='));
      if (!known(options, name)) return ExplainOption(line, name, options, i);
    } else if (!word.starts_with("-") && known(commands, word)) {
      at = at->get_subcommand(word);
    } else if (!word.starts_with("-") && !commands.empty() && (at == &root || TakesNoPlace(*at))) {
      const std::string meant = at == &root && line.meant_by_command ? line.meant_by_command(word) : "";
      if (at == &root) commands.push_back("help");  // TypedWords converts it to an option
      return "unknown command '" + word + "'" +
             (meant.empty() ? DidYouMean(Nearest(word, Candidates(commands)))
                            : "; use `backplane " + meant + (meant.find('`') == meant.npos ? "`" : ""));
    }
  }
  return "";
}

int Complain(const CLI::App& root, const CLI::ParseError& error, const CommandLine& line) {
  const std::string typo = ExplainTypo(root, line);
  if (error.get_exit_code() == 0 && typo.empty()) return root.exit(error);  // --help, --version
  LogError("backplane: {}\nhint: `backplane --help` and `backplane COMMAND --help` list commands and options",
           typo.empty() ? error.what() : typo);
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
  } else if (words.size() == 1 && words.front() == "-v") {
    words.front() = "--version";
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
  root.set_version_flag("-V,--version", line.version);
  const std::string program = TypedProgram(line.program);
  Run chosen = WhatThereIs(root);
  const std::vector<std::string>& words = line.words;
  for (const Command& command : NeededCommands(line)) AddCommand(&root, command, program, &chosen);
  root.footer(line.examples);  // only for the program: later commands would inherit it
  NeedOnlyWhatWasTyped(&root, words);
  try {
    if (!words.empty() && words.front() == "complete") {  // asked by a shell, with any words
      PrintCompletions(root, {words.begin() + 1, words.end()}, line.values);
      return kOk;
    }
    try {
      root.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // CLI11 expects reverse order
    } catch (const CLI::ParseError& error) {
      return Complain(root, error, line);
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
