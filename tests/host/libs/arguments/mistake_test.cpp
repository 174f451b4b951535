// Explains wrong lines for a small program with CLI11; the expected lines are written by hand.
#include "arguments/mistake.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

namespace backplane {
namespace {

using Words = std::vector<std::string>;

class MistakeTest : public testing::Test {
 protected:
  MistakeTest() {
    CLI::App* run = app_.add_subcommand("run", "Run");
    run->add_option("FILE", file_)->required()->type_name("FILE");
    run->add_option("-s,--set", set_)->type_name("KEY=VALUE");
    run->add_option("--batch", batch_)->type_name("N,...");
    run->add_flag("-q,--quiet", quiet_);
    run->add_flag("--fresh", quiet_);
    CLI::App* exported = app_.add_subcommand("export", "Export");
    exported->add_subcommand("csv", "As CSV")->add_option("OUT", file_)->type_name("OUT");
    app_.require_subcommand(1);
  }

  // The mistake in a line that CLI11 rejects.
  Mistake Find(const Words& words) {
    try {
      app_.parse(Words(words.rbegin(), words.rend()));
    } catch (const CLI::ParseError& error) {
      return FindMistake(app_, words, meant_, error).value_or(Mistake{"none", "none"});
    }
    return {"accepted", ""};
  }

  CLI::App app_{"A program", "tool"};
  Meanings meant_;
  std::string file_, set_, batch_;
  bool quiet_ = false;
};

TEST_F(MistakeTest, MisspeltCommandsGetTheNearestOne) {
  EXPECT_EQ(Find({"rum", "a.yaml"}).hint, "run a.yaml");
  EXPECT_EQ(Find({"export", "cvs", "OUT"}).hint, "export csv OUT");
  EXPECT_EQ(Find({"zzzzzz"}).hint, "");
  EXPECT_THAT(Find({"rum"}).what, testing::StartsWith("unknown command 'rum'"));
}

TEST_F(MistakeTest, MovesAWordAfterItsCommand) { EXPECT_EQ(Find({"export", "OUT", "csv"}).hint, "export csv OUT"); }

TEST_F(MistakeTest, CommandsOfOtherToolsAreTranslatedIfTheirWordsFit) {
  meant_.command = [](const std::string& word) { return word == "train" ? "run FILE" : ""; };
  meant_.file = [](const Words&) { return "configs/a.yaml"; };
  EXPECT_EQ(Find({"train", "--algo", "ppo"}).hint, "run configs/a.yaml");
}

TEST_F(MistakeTest, MisspeltOptionsKeepTheirValue) {
  EXPECT_EQ(Find({"run", "a.yaml", "--sett", "a=1"}).hint, "run a.yaml --set a=1");
  EXPECT_EQ(Find({"run", "a.yaml", "--sett=a=1"}).hint, "run a.yaml --set=a=1");
  EXPECT_EQ(Find({"run", "a b.yaml", "--quite"}).hint, "run 'a b.yaml' --quiet");
}

TEST_F(MistakeTest, MovesAnOptionAfterItsCommand) {
  EXPECT_EQ(Find({"--quiet", "run", "a.yaml"}).hint, "run a.yaml --quiet");
  EXPECT_EQ(Find({"--set", "a=1", "run", "a.yaml"}).hint, "run a.yaml --set a=1");
}

TEST_F(MistakeTest, OptionsThatAreValuesOfAnExperimentBecomeSettings) {
  meant_.names_to_set = [](const Words&) { return std::vector<Candidate>{{"lr", "learner.options.lr"}}; };
  EXPECT_EQ(Find({"run", "a.yaml", "--lr", "1e-3"}).hint, "run a.yaml --set learner.options.lr=1e-3");
  EXPECT_EQ(Find({"run", "a.yaml", "--lr"}).hint, "run a.yaml --set learner.options.lr=VALUE");
  EXPECT_EQ(Find({"run", "--lr", "1", "--", "a.yaml"}).hint, "run --set learner.options.lr=1 -- a.yaml");
}

TEST_F(MistakeTest, OptionsThatAreDefaultsAreDropped) {
  EXPECT_EQ(Find({"run", "a.yaml", "--resume"}).hint, "run a.yaml");
  EXPECT_EQ(Find({"run", "a.yaml", "--overwrite"}).hint, "run a.yaml --fresh");
}

TEST_F(MistakeTest, AListThatTheShellSplitIsJoined) {
  EXPECT_EQ(Find({"run", "a.yaml", "--batch", "1", "4", "16"}).hint, "run a.yaml --batch=1,4,16");
  EXPECT_EQ(Find({"run", "a.yaml", "--set", "a=[1,", "2]"}).hint, "run a.yaml --set 'a=[1, 2]'");
}

TEST_F(MistakeTest, AMissingArgumentIsNamed) {
  EXPECT_EQ(Find({"run"}).what, "expected FILE, got none");
  EXPECT_EQ(Find({"run"}).hint, "");
  app_.get_subcommand("run")->add_option("--to", batch_)->required()->type_name("PLACE");
  EXPECT_EQ(Find({"run", "a.yaml"}).what, "expected --to, got none");
}

TEST_F(MistakeTest, TypedCommandsAreThoseBeforeTheFirstOtherWord) {
  EXPECT_EQ(CommandTyped(app_, {"export", "csv", "OUT", "run"}), "export csv ");
  EXPECT_EQ(CommandTyped(app_, {"--quiet", "run"}), "");
}

}  // namespace
}  // namespace backplane
