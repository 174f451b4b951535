// backplane-seal FILE [--part FILE]...: writes a plugin's description into its file, as the last step of its build.
#include <sysexits.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error_words.hpp"
#include "base/standard_descriptors.hpp"
#include "config/declaration.hpp"
#include "plugin/seal.hpp"

int main(int argc, char** argv) {
  backplane::OpenStandardDescriptors();
  std::signal(SIGCHLD, SIG_DFL);  // if the parent ignores it, waiting for children fails
  const std::vector<std::string> words(argv + 1, argv + argc);
  std::vector<std::filesystem::path> parts;
  bool wrong = words.size() % 2 == 0;
  for (size_t i = 1; i + 1 < words.size(); i += 2) {
    wrong = wrong || words[i] != "--part";
    parts.emplace_back(words[i + 1]);
  }
  if (wrong) {
    std::fputs("usage: backplane-seal FILE [--part FILE]...\n", stderr);
    return EX_USAGE;
  }
  try {
    backplane::Seal(words[0], backplane::CheckBeforeSeal, parts);
    return EX_OK;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "backplane-seal: %s\n", backplane::WordsOf(error).c_str());
    return EX_DATAERR;
  }
}
