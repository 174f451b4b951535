// Hostile and accidental inputs: each is rejected quickly, with an error at its place.
#include <sys/stat.h>

#include <ctime>

#include "base/text_columns.hpp"
#include "sweep_fixture.hpp"

namespace backplane {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

class HostileInputTest : public SweepTest {
 protected:
  // Errors of a whole file, "1:2 message" each. The limit is a user's patience on an idle machine; all inputs need less.
  std::vector<std::string> FileErrors(const std::string& text, std::vector<std::string> set = {}) {
    const std::clock_t start = std::clock();  // CPU time
    const PlanResult result = PlanText(text, {}, std::move(set));
    EXPECT_LT((std::clock() - start) / CLOCKS_PER_SEC, 30);
    EXPECT_FALSE(result.plan);
    std::vector<std::string> errors;
    for (const Diagnostic& d : result.errors)
      errors.push_back(std::to_string(d.line) + ":" + std::to_string(d.column) + " " + d.message);
    return errors;
  }

  static std::string Repeated(const std::string& part, size_t times) {
    std::string text;
    for (size_t i = 0; i < times; ++i) text += part;
    return text;
  }

  void Pipe(const std::string& name) { ASSERT_EQ(mkfifo((folder_ / name).c_str(), 0600), 0); }
};

TEST_F(HostileInputTest, RejectsALeadingComma) {
  EXPECT_THAT(FileErrors(", " + kMinimal), ElementsAre("1:1 not valid YAML: expected a value, got ','"));
  EXPECT_THAT(FileErrors(kMinimal, {"seed=,"}), ElementsAre("0:6 not valid YAML: expected a value, got ','"));
}

TEST_F(HostileInputTest, ReportsAPluginsNameOfTheWrongTypeOnce) {
  const auto with = [&](const std::string& name) {
    return FileErrors("experiment: a\nenv: {plugin: " + name + "}\nlearner: {plugin: climber}\nbudget: {iterations: 1}\n");
  };
  EXPECT_THAT(with("010"), ElementsAre(HasSubstr("2:15 '010' looks like an octal number")));
  EXPECT_THAT(with(".nan"), ElementsAre("2:15 expected a finite number, got '.nan'"));
  EXPECT_THAT(with("!!str walker"), ElementsAre(HasSubstr("2:15 expected a value without a tag, got the tag '!!str'")));
}

TEST_F(HostileInputTest, ExpressionsHaveABoundedDepth) {
  const auto where = [&](const std::string& text) { return FileErrors(kMinimal + "sweep: {where: [\"" + text + "\"]}\n"); };
  EXPECT_THAT(where(std::string(60000, '-') + "1 < 2"), ElementsAre(HasSubstr("more than 500 operators in a row")));
  EXPECT_THAT(where(Repeated("not ", 15000) + "true"), ElementsAre(HasSubstr("more than 500 operators in a row")));
  EXPECT_THAT(where(Repeated("1+", 30000) + "1 < 2"), ElementsAre(HasSubstr("more than 500 operators in a row")));
  EXPECT_THAT(where(std::string(60000, '(') + "1"), ElementsAre(HasSubstr("it is nested too deeply")));
  EXPECT_THAT(where(std::string(200000, '-') + "1 < 2"), ElementsAre(HasSubstr("it has 200,005 bytes, the limit is 65,536")));
  GoodPlan("sweep: {where: [\"" + Repeated("not ", 400) + "true\", \"" + Repeated("1+", 300) + "1 > 2\"]}\n");
}

TEST_F(HostileInputTest, NestingEndsAt64) {
  const std::string sentence = "nested more than 64 levels deep";
  EXPECT_THAT(FileErrors("a: " + std::string(100000, '[')), ElementsAre(HasSubstr(sentence)));
  EXPECT_THAT(FileErrors(Repeated("- ", 100000) + "1\n"), ElementsAre(HasSubstr(sentence)));
  std::string block;
  for (size_t i = 0; i < 500; ++i) block += std::string(i, ' ') + "a:\n";
  EXPECT_THAT(FileErrors(block), ElementsAre(HasSubstr("65:65 " + sentence)));
  EXPECT_THAT(FileErrors(kMinimal, {"+" + Repeated("a.", 50000) + "b=1"}), ElementsAre(HasSubstr("cannot be set")));
}

TEST_F(HostileInputTest, AliasesCountAllTheirValues) {
  std::string bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n";
  for (char c = 'b'; c <= 'i'; ++c) {
    const std::string before = std::string(", *") + static_cast<char>(c - 1);
    bomb += std::string(1, c) + ": &" + c + " [" + Repeated(before, 9).substr(2) + "]\n";
  }
  EXPECT_THAT(FileErrors(bomb + kMinimal), ElementsAre(HasSubstr("the document has more than 500,000 values")));
  EXPECT_THAT(FileErrors("a: &a [*a]\n" + kMinimal), ElementsAre("1:8 the alias refers to a value that contains it"));
}

TEST_F(HostileInputTest, OnlyRegularFilesAreRead) {
  Pipe("pipe.yaml");
  EXPECT_THAT(FileErrors("base: pipe.yaml\n" + kMinimal),
              ElementsAre(AllOf(HasSubstr("1:1 base: cannot read"), HasSubstr("is a pipe, not a regular file"))));
  EXPECT_THAT(FileErrors("base: /dev/zero\n" + kMinimal), ElementsAre(HasSubstr("is a device, not a regular file")));
  EXPECT_THAT(FileErrors("base: .\n" + kMinimal), ElementsAre(HasSubstr("is a folder, not a regular file")));
  EXPECT_THAT(FileErrors("preset: ./pipe.yaml\n" + kMinimal), ElementsAre(HasSubstr("preset: cannot read")));
  EXPECT_THAT(FileErrors(kMinimal + "sweep: {files: [pipe.yaml]}\n"), ElementsAre(HasSubstr("sweep.files: cannot read")));
  const PlanResult result = MakePlan(folder_ / "pipe.yaml", {{}, {}, Lookup(), presets_, defaults_});
  ASSERT_THAT(result.errors, SizeIs(1));
  EXPECT_THAT(Format(result.errors[0]), HasSubstr("pipe.yaml: error: cannot read"));
}

TEST_F(HostileInputTest, RejectsAPipeAsData) {
  OptionInfo data = Option("corpus", BP_PARAM_PATH, {});
  data.flags = BP_PARAM_DATA;
  plugins_["climber"].options.push_back(data);
  Pipe("corpus.csv");
  const std::string text =
      "experiment: a\nenv: {plugin: walker}\nlearner: {plugin: climber, options: {corpus: corpus.csv}}\n"
      "budget: {iterations: 1}\n";
  const PlanResult result = PlanText(text);
  ASSERT_THAT(result.errors, SizeIs(1));
  EXPECT_THAT(Format(result.errors[0]),
              AllOf(HasSubstr("e.yaml:3:38: error: learner.options.corpus: expected a regular file or a folder at '"),
                    HasSubstr("corpus.csv', got a pipe or a device")));
}

TEST_F(HostileInputTest, BasesEnd) {
  Write("b.yaml", "base: c.yaml\n");
  Write("c.yaml", "base: b.yaml\n");
  EXPECT_THAT(FileErrors("base: b.yaml\n" + kMinimal), ElementsAre(HasSubstr("extends itself")));
  for (int i = 0; i < 40; ++i) Write("chain" + std::to_string(i) + ".yaml", "base: chain" + std::to_string(i + 1) + ".yaml\n");
  EXPECT_THAT(FileErrors("base: chain0.yaml\n" + kMinimal),
              ElementsAre(HasSubstr("expected a chain of at most 32 files, got more")));
}

TEST_F(HostileInputTest, FiftyThousandAxesAreCountedBeforeAnythingIsMade) {
  std::string text = kMinimal + "sweep:\n  grid:\n";
  for (int i = 0; i < 50000; ++i) text += "    learner.options.k" + std::to_string(i) + ": [1, 2]\n";
  EXPECT_THAT(FileErrors(text), ElementsAre("5:1 sweep: expected at most 100,000 points, got more"));
}

TEST_F(HostileInputTest, ALongLineIsShownIn200Columns) {
  const PlanResult result = PlanText(kMinimal + "seed: \"" + std::string(3 << 20, 'x') + "\"\n");
  ASSERT_THAT(result.errors, SizeIs(1));
  const std::string shown = Format(result.errors[0]);
  EXPECT_THAT(shown, HasSubstr("e.yaml:5:1: error: the line has 3,145,736 bytes, the limit is 1,048,576\n  seed: \"xxx"));
  EXPECT_EQ(shown.substr(shown.find('\n') + 1).find('\n'), 202u) << "two blanks and the line's 200 columns";

  // The shown part contains the column, with the caret below it.
  const PlanResult far =
      PlanText(kMinimal + "rollout: {" + std::string(5000, ' ') + "thread: 1" + std::string(5000, ' ') + "}\n");
  ASSERT_THAT(far.errors, SizeIs(1));
  const std::string whole = Format(far.errors[0]), text = whole.substr(0, whole.find("\nhint: "));
  const size_t line = text.find('\n') + 1, caret = text.rfind('\n') + 1;
  EXPECT_EQ(text.find("thread: 1", line) - line, text.find('^', caret) - caret);
  EXPECT_LE(caret - line - 1, 202u);
}

TEST_F(HostileInputTest, CountsValuesOfAllPointsBeforeTheyAreMade) {
  std::string grid = "sweep:\n  grid:\n";
  for (int i = 0; i < 5; ++i) grid += "    env.options.many" + std::to_string(i) + ": {range: [1, 10, 1]}\n";
  for (int i = 0; i < 60; ++i) grid += "    env.options.one" + std::to_string(i) + ": [1]\n";
  const PlanResult result = PlanText(kMinimal + grid);
  ASSERT_THAT(result.errors, SizeIs(1));
  EXPECT_EQ(result.errors[0].message,
            "sweep: expected points that write at most 5,000,000 values in total, got 100,000 points of 65 values");
}

TEST_F(HostileInputTest, CountsSearchedPaths) {
  std::string space;
  for (int i = 0; i < 501; ++i)
    space += (i ? ", " : "") + std::string("env.options.k") + std::to_string(i) + ": {uniform: [0, 1]}";
  const PlanResult result =
      PlanText(kMinimal + "sweep: {search: {trials: 2, objective: {metric: SPS}, space: {" + space + "}}}\n");
  ASSERT_FALSE(result.errors.empty());
  EXPECT_EQ(result.errors[0].message, "sweep.search.space: expected at most 500 paths, got 501");
}

TEST_F(HostileInputTest, ManyUnknownKeysAreCounted) {
#ifdef __SANITIZE_ADDRESS__
  constexpr size_t kKeys = 30'000;
#else
  constexpr size_t kKeys = 300'000;
#endif
  std::string keys;
  for (size_t i = 0; i < kKeys; ++i) keys += "key" + std::to_string(i) + ": 1\n";
  const PlanResult result = PlanText(kMinimal + keys);
  ASSERT_EQ(result.errors.size(), kKeys);
  EXPECT_EQ(result.errors[kShownErrors - 1].source_line, "key49: 1");
  EXPECT_EQ(result.errors[kShownErrors].source_line, "") << "a long line would be copied for each";
}

TEST_F(HostileInputTest, ImpossibleNumbersAreOutOfRange) {
  const auto rollout = [&](const std::string& keys) { return FileErrors(kMinimal + "rollout: {" + keys + "}\n"); };
  EXPECT_THAT(rollout("threads: 1000000000"), ElementsAre("5:20 rollout.threads: 1000000000 is out of range auto|[1,1024]"));
  EXPECT_THAT(rollout("num_env_runners: 1000000000"), ElementsAre(HasSubstr("out of range [1,65536]")));
  EXPECT_THAT(rollout("num_envs_per_env_runner: 9223372036854775807"), ElementsAre(HasSubstr("out of range [1,1048576]")));
  EXPECT_THAT(rollout("chunk_rows: 9223372036854775807"), ElementsAre(HasSubstr("out of range")));
  EXPECT_THAT(
      rollout("num_env_runners: 65536, num_envs_per_env_runner: 1048576"),
      ElementsAre(
          "5:35 rollout: 65536 env runners of 1048576 envs each are 68,719,476,736 envs in total, the limit is 16,777,216"));
  EXPECT_THAT(FileErrors(kMinimal + "evaluation: {episodes: 1000000000}\n"),
              ElementsAre(HasSubstr("out of range [0,1000000]")));
  EXPECT_THAT(FileErrors(kMinimal + "resources: {cpus: 1000000000}\n"), ElementsAre(HasSubstr("out of range auto|[1,65536]")));
}

TEST_F(HostileInputTest, PlansHaveASize) {
  EXPECT_THAT(FileErrors(kMinimal + "sweep: {seeds: {n: 1000000}}\n"), ElementsAre(HasSubstr("out of range [1,200000]")));
  EXPECT_THAT(FileErrors(kMinimal + "sweep: {grid: {env.options.legs: [2, 3]}, seeds: {n: 200000}}\n"),
              ElementsAre("5:1 sweep: 400,000 trials (2 points, 200,000 seeds), the limit is 200,000"));
  EXPECT_THAT(FileErrors(kMinimal + "sweep: {random: {trials: 1000000, space: {env.options.legs: {int: [1, 9]}}}}\n"),
              ElementsAre(HasSubstr("out of range [1,100000]")));
  EXPECT_THAT(FileErrors(kMinimal + "sweep: {grid: {env.options.reward: {range: [1, 1.0e300, 1.0e-300]}}}\n"),
              ElementsAre(HasSubstr("expected a range of at most 100,000 values, got more")));
  std::string space;
  for (int i = 0; i < 60; ++i) space += (i ? ", a" : "a") + std::to_string(i) + ": {uniform: [0, 1]}";
  EXPECT_THAT(FileErrors(kMinimal + "sweep: {random: {trials: 100000, space: {" + space + "}}}\n"),
              ElementsAre(HasSubstr("at most 500,000 values")));
  std::string derive;
  for (int i = 0; i < 20000; ++i) derive += "    a" + std::to_string(i) + ": a" + std::to_string(i + 1) + "\n";
  EXPECT_THAT(FileErrors(kMinimal + "sweep:\n  derive:\n" + derive),
              ElementsAre(HasSubstr("the section has 20,000 values, the limit is 1,000")));
}

TEST_F(HostileInputTest, RejectsBytesThatAreNotText) {
  EXPECT_THAT(FileErrors(kMinimal + "seed: 1\x04\nbudget: 2\n"),
              ElementsAre(HasSubstr("5:8 expected text, got the control character \\x04")))
      << "the parser sees the end of the file";
  EXPECT_THAT(FileErrors(kMinimal + "\xff\xfe: 1\n"), ElementsAre("5:1 this byte is not valid UTF-8"));
  EXPECT_THAT(FileErrors(std::string("\0\1\2", 3)),
              ElementsAre(HasSubstr("1:1 expected text, got the control character \\x00")));
}

TEST_F(HostileInputTest, ErrorsDoNotMoveTheCursor) {
  const PlanResult result = PlanText(kMinimal + "\"a\\e[31m\\n\": 1\n");
  ASSERT_THAT(result.errors, SizeIs(1));
  const std::string shown = Format(result.errors[0]);
  EXPECT_THAT(shown, AllOf(HasSubstr("unknown key 'a\\x1b[31m\\n'"), Not(HasSubstr("\x1b"))));
}

}  // namespace
}  // namespace backplane
