#include "base/shell_argument.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>

namespace backplane {
namespace {

// The argument as a shell reads it.
std::string Read(const std::string& argument) {
  FILE* shell = popen(("printf %s " + argument).c_str(), "r");
  std::array<char, 256> text{};
  const size_t size = fread(text.data(), 1, text.size(), shell);
  pclose(shell);
  return {text.data(), size};
}

TEST(ShellArgument, SurvivesAShell) {
  for (const char* text : {"rollout.threads=16,2", "hidden=[64, 64]", "it's:a=\"b\"", "$HOME;`ls`", "a  b", "*", "\\"})
    EXPECT_EQ(text, Read(ShellArgument(text)));
}

TEST(ShellArgument, HasNoQuotesUnlessNeeded) {
  EXPECT_EQ("before:rollout.threads=16,2", ShellArgument("before:rollout.threads=16,2"));
  EXPECT_EQ("''", ShellArgument(""));
}

}  // namespace
}  // namespace backplane
