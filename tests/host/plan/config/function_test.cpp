// The keys of `learner.function`.
#include "config/command.hpp"
#include "config_fixture.hpp"

namespace backplane {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class FunctionKeys : public ConfigTest {
 protected:
  FunctionKeys() { Write("train.py", "def train(config): pass\n"); }

  std::vector<std::string> Of(const std::string& learner) { return ErrorsOf("learner: " + learner + "\n"); }
};

TEST_F(FunctionKeys, AcceptOptionsOfAnyNameAndType) {
  const LoadedExperiment loaded = Good(
      "learner: {function: train.py:train, python: bin/python, options: {lr: 1.0, n: 3, net: {hidden: [64, 64], act: null}, "
      "total_timesteps: 5}}\n",
      {"learner.options.net.act=tanh", "learner.options.fresh=true"});
  EXPECT_EQ(loaded.experiment.command.function, (folder_ / "train.py").string() + ":train");
  EXPECT_EQ(loaded.experiment.command.python, (folder_ / "bin/python").string());
  EXPECT_EQ(loaded.experiment.learner.options.dump(),
            R"({"fresh":true,"lr":1.0,"n":3,"net":{"act":"tanh","hidden":[64,64]},"total_timesteps":5})");
  EXPECT_EQ(loaded.learner->id, kFunctionLearner);
  EXPECT_EQ(loaded.env->id, kNoEnv);
  EXPECT_EQ(loaded.origin.at("learner.options.lr"), (folder_ / "e.yaml").string() + ":1:67");
}

TEST_F(FunctionKeys, ComeBackFromASavedConfiguration) {
  const Experiment experiment = Good("learner: {function: train.py:train, options: {net: {hidden: [64]}}}\n").experiment;
  const nlohmann::json saved = ToJson(experiment);
  EXPECT_FALSE(saved["learner"].contains("command"));
  EXPECT_FALSE(saved["learner"].contains("python"));
  EXPECT_EQ(ToJson(ExperimentFromJson(saved)), saved);
  EXPECT_EQ(ToJson(Good(saved.dump()).experiment), saved) << "it can be read as a file, too";
  EXPECT_FALSE(ToJson(Good("learner: {command: [run]}\n").experiment)["learner"].contains("function"));
}

TEST_F(FunctionKeys, EveryErrorHasItsPlace) {
  EXPECT_THAT(Of("{function: train.py}"),
              ElementsAre("1:21 learner.function: expected FILE:NAME such as train.py:train, got 'train.py'"));
  EXPECT_THAT(Of("{function: \":train\"}"), ElementsAre(HasSubstr("expected FILE:NAME")));
  EXPECT_THAT(Of("{function: \"train.py:\"}"), ElementsAre(HasSubstr("expected FILE:NAME")));
  EXPECT_THAT(Of("{function: tran.py:train}"),
              ElementsAre("1:21 learner.function: expected a Python file at '" + (folder_ / "tran.py").string() +
                          "', got none; did you mean 'train.py'?"));
  EXPECT_THAT(Of("{function: [train.py, train]}"), ElementsAre(HasSubstr("learner.function: expected text, got a list")));
  EXPECT_THAT(Of("{function: train.py:train, options: {seed: 1}}"),
              ElementsAre("1:47 learner.options.seed: the host sets config[\"seed\"]; use the key seed, or sweep.seeds, at "
                          "the top level"));
  EXPECT_THAT(Of("{function: train.py:train, options: {net.lr: 1}}"),
              ElementsAre("1:47 learner.options: expected a name without dots, got 'net.lr'"));
  EXPECT_THAT(Of("{function: train.py:train, options: {net: {clip: [1, .inf]}}}"),
              ElementsAre("1:63 learner.options.net.clip: expected a finite number of at most 64 bits, got .inf; quote it to "
                          "pass a text"));
  for (const char* number : {"-.inf", "9223372036854775808", "-9223372036854775809"})
    EXPECT_THAT(Of(std::string("{function: train.py:train, options: {a: ") + number + "}}"),
                ElementsAre(HasSubstr(std::string("expected a finite number of at most 64 bits, got ") + number)));
  EXPECT_THAT(Of("{function: train.py:train, options: {a: \".inf\", b: 9223372036854775807, c: -, d: \"\", e: 1.0e300}}"),
              ElementsAre());
  EXPECT_THAT(Of("{function: train.py:train, command: [run]}"),
              ElementsAre(HasSubstr("learner.command: expected a command or a function, got both")));
  EXPECT_THAT(Of("{function: train.py:train, plugin: climber}"),
              ElementsAre(HasSubstr("learner.plugin: expected a plugin or a function, got both; learner.function is at")));
  EXPECT_THAT(Of("{command: [run], python: python3}"),
              ElementsAre(HasSubstr("learner.python: this key needs learner.function")));
}

}  // namespace
}  // namespace backplane
