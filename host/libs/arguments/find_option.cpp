#include "arguments/find_option.hpp"

#include <CLI/CLI.hpp>

namespace backplane {

bool IsOptionWord(const std::string& word) {
  return word.size() > 1 && word[0] == '-' && (word[1] < '0' || word[1] > '9') && word[1] != '.';
}

const CLI::Option* OptionCalled(const CLI::App& app, const std::string& word) {
  if (!IsOptionWord(word) || word == "--") return nullptr;
  return app.get_option_no_throw(word.starts_with("--") ? word.substr(0, word.find('=')) : word.substr(0, 2));
}

std::vector<const CLI::App*> CommandsBelow(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

const CLI::App* CommandCalled(const CLI::App& app, const std::string& name) {
  for (const CLI::App* command : CommandsBelow(app))
    if (command->get_name() == name) return command;
  return nullptr;
}

}  // namespace backplane
