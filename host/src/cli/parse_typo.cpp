#include "cli/parse_typo.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/suggest.hpp"

namespace backplane {
namespace {

std::vector<std::string> CommandNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

std::vector<std::string> OptionNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      names.push_back("--" + name);
    }
  }
  return names;
}

}  // namespace

std::string ExplainTypo(const CLI::App& root, int argc, char** argv) {
  const CLI::App* at = &root;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const std::vector<std::string> commands = CommandNames(*at), options = OptionNames(*at);
    const auto known = [](const std::vector<std::string>& names, const std::string& name) {
      return std::find(names.begin(), names.end(), name) != names.end();
    };
    if (word.starts_with("--") && word.size() > 2) {
      const std::string name = word.substr(0, word.find('='));
      if (!known(options, name)) {
        return "unknown option '" + name + "'" + DidYouMean(Nearest(name, Candidates(options)));
      }
    } else if (!word.starts_with("-") && known(commands, word)) {
      at = at->get_subcommand(word);
    } else if (!word.starts_with("-") && !commands.empty()) {
      return "unknown command '" + word + "'" + DidYouMean(Nearest(word, Candidates(commands)));
    }
  }
  return "";
}

}  // namespace backplane
