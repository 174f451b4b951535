// backplane-validate: tests if plugins keep the rules of the contract. `backplane plugin validate` and the check before a first
// trial start it.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arguments/parse.hpp"
#include "base/standard_descriptors.hpp"
#include "plugin/installation.hpp"
#include "validate/commands.hpp"

namespace {

constexpr char kAbout[] = "Check plugins against the rules of the contract";

// `backplane validate FILE` passes the arguments only, `backplane plugin validate FILE` all words.
std::vector<std::string> WithCommand(std::vector<std::string> words) {
  constexpr std::string_view kWhole[] = {"plugin", "complete", "--version"};
  const bool is_whole = !words.empty() && std::ranges::find(kWhole, words.front()) != std::end(kWhole);
  if (!is_whole) words.insert(words.begin(), {"plugin", "validate"});
  return words;
}

}  // namespace

int main(int argc, char** argv) {
  backplane::OpenStandardDescriptors();
  std::signal(SIGCHLD, SIG_DFL);  // if it is ignored, waiting for the end of a case fails
  backplane::OwnProgram();
  backplane::CommandLine line;
  line.words = backplane::TypedWords(argc, argv);
  if (line.words == std::vector<std::string>{"--fast"}) return backplane::TryFastCases();
  if (line.words == std::vector<std::string>{"--about"}) return std::puts(kAbout) < 0;
  line.program = backplane::TypedHost(argc, argv);
  line.words = WithCommand(std::move(line.words));
  line.about = kAbout;
  line.version = BACKPLANE_VERSION;
  line.commands = {{"plugin", "Validate plugins", nullptr}, backplane::ValidateCommand()};
  line.meant.names_to_set = backplane::OptionsOfPlugin;
  line.values = backplane::OfferPluginFiles;
  return backplane::RunCommandLine(line);
}
