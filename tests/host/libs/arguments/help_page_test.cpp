// The page of --help of a small program with CLI11, compared with pages written by hand.
#include "arguments/help_page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

namespace backplane {
namespace {

TEST(HelpPage, ShowsUsageArgumentsAndOptions) {
  CLI::App app("A program", "tool");
  app.formatter(HelpFormatter());
  CLI::App* copy = app.add_subcommand("copy", "Copy a file");
  std::string from, to, color = "auto";
  int parts = 0;
  copy->add_option("FROM", from, "The file to copy")->required()->type_name("FROM");
  copy->add_option("-p,--parts", parts, "Number of parts")->type_name("N")->default_str("1");
  copy->add_option("--to", to, "A folder")->required()->type_name("FOLDER");
  copy->add_option("--color", color, "Colors")->type_name("WHEN:{auto,always,never}")->default_str("auto");
  EXPECT_EQ(copy->help(),
            "Copy a file\n"
            "\n"
            "Usage: backplane copy FROM [OPTIONS]\n"
            "\n"
            "Arguments:\n"
            "  FROM  The file to copy\n"
            "\n"
            "Options:\n"
            "  -p, --parts N     Number of parts (default: 1)\n"
            "      --to FOLDER   A folder (required)\n"
            "      --color WHEN  Colors (auto, always, never) (default: auto)\n"
            "  -h, --help        Print this help\n");
}

TEST(HelpPage, BreaksLongTextsAt80Columns) {
  CLI::App app("A program", "tool");
  app.formatter(HelpFormatter());
  CLI::App* long_one = app.add_subcommand("long", std::string(30, 'x') + " " + std::string(60, 'y'));
  bool flag = false;
  std::string words;
  for (int i = 0; i < 60; ++i) words += "word ";
  long_one->add_flag("--a-flag-with-a-very-long-name", flag, words);
  std::istringstream lines(long_one->help());
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
}

TEST(HelpPage, TypesAreShownAsTheyAreTyped) {
  CLI::App app;
  bool flag = false;
  std::string text;
  EXPECT_EQ(ShownType(*app.add_flag("--flag", flag)), "");
  EXPECT_EQ(ShownType(*app.add_option("--when", text)->type_name("WHEN:{auto,never}")), "WHEN");
  EXPECT_EQ(ShownType(*app.add_option("--kind", text)->type_name("env|learner:{a}")), "env|learner");
}

}  // namespace
}  // namespace backplane
