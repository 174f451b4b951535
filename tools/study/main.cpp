// backplane-study: experiments about experiments. `backplane bench`, `tune`, `compare` and `gate` start it.
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <string>

#include "arguments/parse.hpp"
#include "base/standard_descriptors.hpp"
#include "input/complete.hpp"
#include "input/other_names.hpp"
#include "plugin/installation.hpp"
#include "study/commands.hpp"

namespace {

constexpr char kAbout[] = "Compare, tune and benchmark experiments, and hold them against a baseline";

// `backplane` as it would be typed, for commands to type next.
std::string Host(std::filesystem::path typed) {
  if (typed.filename() == "backplane-study") typed.replace_filename("backplane");
  return typed.string();
}

}  // namespace

int main(int argc, char** argv) {
  backplane::OpenStandardDescriptors();
  std::signal(SIGCHLD, SIG_DFL);  // its parent may ignore it, and then the end of a child could not be waited for
  backplane::OwnProgram();
  backplane::CommandLine line;
  line.program = Host(argc > 0 ? argv[0] : "backplane");
  line.words = backplane::TypedWords(argc, argv);
  if (line.words == std::vector<std::string>{"--about"}) return std::puts(kAbout) < 0;
  line.about = kAbout;
  line.version = BACKPLANE_VERSION;
  line.commands = backplane::StudyCommands();
  line.answer_to_option = backplane::AnswerToOption;
  line.meant_by_option = backplane::MeantByOption;
  line.values = backplane::OfferValues;
  return backplane::RunCommandLine(line);
}
