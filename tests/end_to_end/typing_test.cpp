// Input of people who have not read the documentation: each command does the intended thing, or the error names it.
#include <gmock/gmock.h>

#include <map>
#include <string>

#include "program.hpp"

namespace backplane::end_to_end {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class Typing : public ProgramTest {
 protected:
  Typing() {
    Write("tiny.yaml", "env: cartpole\nlearner: random\nbudget: {iterations: 2}\nmonitors: []\n");
    Write("ars.yml", "experiment: other\nenv: {plugin: cartpole}\nlearner: {plugin: ars}\nbudget: {iterations: 1e0}\n");
  }
  // The file as the program parsed it.
  std::string Shown(const std::string& arguments) {
    const Finished shown = Run("config show --resolved " + arguments);
    EXPECT_EQ(shown.exit, 0) << shown.err;
    return shown.out;
  }
};

TEST_F(Typing, TheProgramAloneAndHelpListTheCommands) {
  const Finished alone = Run("");
  EXPECT_EQ(alone.exit, 2);
  EXPECT_THAT(alone.err, AllOf(HasSubstr("Run or resume an experiment"), HasSubstr("Examples:")));
  const Finished help = Run("help");
  EXPECT_EQ(help.exit, 0);
  EXPECT_EQ(help.out, Run("--help").out);
  EXPECT_EQ(Run("help run").out, Run("run --help").out);
  EXPECT_EQ(Run("help config check").out, Run("config check --help").out);
  const Finished half = Run("config");
  EXPECT_EQ(half.exit, 2);
  EXPECT_EQ(half.err, Run("config --help").out);
  EXPECT_THAT(Run("help repot").err, HasSubstr("got 'repot'; did you mean 'report'?\nhint: "));
  for (const char* version : {"-V", "-v"}) EXPECT_EQ(Run(version).exit, 2) << "-v is --verbose";
  EXPECT_THAT(Run("help sweep.seeds").out, HasSubstr("sweep\n"));
  EXPECT_THAT(Run("help env.cartpole").out, HasSubstr("max_episode_steps"));
  EXPECT_THAT(Run("help exit-codes").out, HasSubstr("130"));
}

TEST_F(Typing, CommandsOfOtherToolsNameOurs) {
  for (const auto& [typed, ours] : std::map<std::string, std::string>{{"train tiny.yaml", "run tiny.yaml"},
                                                                      {"list", "plugin list"},
                                                                      {"init", "run configs/quickstart.yaml"},
                                                                      {"validate tiny.yaml", "config check tiny.yaml"},
                                                                      {"kill .", "stop ."}}) {
    const Finished answer = Run(typed);
    EXPECT_EQ(answer.exit, 2) << typed;
    EXPECT_THAT(answer.err, AllOf(HasSubstr("\nhint: "), HasSubstr(" " + ours + "\n"))) << typed;
  }
  EXPECT_THAT(Run("repot outputs/tiny").err, HasSubstr("did you mean 'report'?"));
}

TEST_F(Typing, AnOptionOfADifferentToolNamesThePath) {
  const Finished answer = Run("run ars.yml --step-size 1e-3");
  EXPECT_EQ(answer.exit, 2);
  EXPECT_THAT(answer.err, AllOf(HasSubstr("unknown option '--step-size'"),
                                HasSubstr("run ars.yml --set learner.options.step_size=1e-3\n")));
  EXPECT_THAT(Run("run ars.yml --total-timesteps=5000").err, HasSubstr("--set budget.env_steps=5000"));
  EXPECT_THAT(Run("run --step-size ars.yml").err, HasSubstr("run --set learner.options.step_size=VALUE ars.yml\n"))
      << "the file is no value";
  for (const char* dashes : {"---", "--=5"}) EXPECT_EQ(Run(std::string("run ars.yml ") + dashes).exit, 2);
  EXPECT_THAT(Run("run ars.yml --drry-run").err, HasSubstr("did you mean '--dry-run'?"));
}

TEST_F(Typing, ShortFormsAreTheSameTrial) {
  Write("long.yaml",
        "experiment: tiny\nenv: {plugin: cartpole}\nlearner: {plugin: random}\nbudget: {iterations: 2}\nmonitors: []\n");
  EXPECT_EQ(Shown("tiny.yaml"), Shown("long.yaml")) << "named after the file, too";
  EXPECT_EQ(Shown("tiny.yaml --set learner=ars"), Shown("long.yaml --set learner.plugin=ars"));
  EXPECT_EQ(Shown("tiny.yaml budget.iterations=1e5 seed=18446744073709551615"),
            Shown("long.yaml --set budget.iterations=100000 --set seed=18446744073709551615"));
  EXPECT_THAT(Shown("ars"), HasSubstr("experiment: other")) << "ars.yml";
  EXPECT_EQ(Shown("ars.yaml"), Shown("ars.yml"));
}

// Gymnasium's and RLlib's names give the same trial. Each gets one note with the host's name, wherever it appears.
TEST_F(Typing, NamesOfOtherToolsAreTheSameTrial) {
  Write("ours.yaml",
        "env: cartpole\nlearner: {plugin: ppo, options: {train_batch_size: 64}}\nseed: 3\n"
        "rollout: {num_env_runners: 2, num_envs_per_env_runner: 4}\nbudget: {env_steps: 128}\n");
  Write("theirs.yaml",
        "experiment: ours\nenv_id: CartPole-v1\nalgo: PPO\nrandom_seed: 3\nnum_rollout_workers: 2\n"
        "rollout: {num_envs_per_worker: 4}\ntotal_timesteps: 128\nlearner: {options: {train_batch_size: 64}}\n");
  EXPECT_EQ(Shown("theirs.yaml"), Shown("ours.yaml"));
  EXPECT_EQ(Shown("ours.yaml num_rollout_workers=8 env_id=CartPole-v1"), Shown("ours.yaml rollout.num_env_runners=8"));
  EXPECT_EQ(Shown("ours.yaml --set env.plugin=env.cartpole"), Shown("ours.yaml"));
  const std::string said = Run("config check theirs.yaml").err;
  EXPECT_THAT(said, HasSubstr("theirs.yaml:5:1: 'num_rollout_workers' is read as rollout.num_env_runners"));
  EXPECT_EQ(said.find("'total_timesteps'"), said.rfind("'total_timesteps'"));
  Write("among.yaml", "env: cartpole\nlearner: {plugin: ppo, options: {num_rollout_workers: 2}}\nbudget: {iterations: 1}\n");
  EXPECT_THAT(Shown("among.yaml"), HasSubstr("num_env_runners: 2"));
  const Finished both = Run("config check theirs.yaml rollout.num_env_runners=1 num_rollout_workers=2");
  EXPECT_THAT(both.err,
              HasSubstr("'num_rollout_workers' is another name of 'rollout.num_env_runners', which is also set by --set"));
  Write("twice.yaml", "env: cartpole\nenv_id: CartPole-v1\nlearner: ppo\nbudget: {iterations: 1}\n");
  EXPECT_THAT(Run("config check twice.yaml").err,
              HasSubstr("twice.yaml:2:1: error: 'env_id' is another name of 'env.plugin', which is also set at twice.yaml:1:"));
  EXPECT_THAT(Run("config check ours.yaml env=CartPole-v0").err, HasSubstr("did you mean 'CartPole-v1'?"));
}

TEST_F(Typing, AListOfGymnasiumIsSeveralOptionsAndMayBeOpen) {
  if (!HasPlugin("env_ant.so")) GTEST_SKIP() << "built without MuJoCo";
  Write("ant.yaml", "env: Ant-v5\nlearner: random\nbudget: {iterations: 1}\n");
  const std::string shown = Shown("ant.yaml --set env.options.healthy_z_range=[0.25,.inf]");
  EXPECT_THAT(shown, AllOf(HasSubstr("healthy_z_min: 0.25"), HasSubstr("healthy_z_max: \".inf\"")));
  Write("open.yaml",
        "experiment: open\nenv: {plugin: ant, options: {healthy_z_range: [-.inf, .inf], max_episode_steps: 5}}\n"
        "learner: random\nbudget: {iterations: 1}\n");
  EXPECT_EQ(Run("run open.yaml").exit, 0);
  EXPECT_EQ(Run("run open.yaml").exit, 0) << "the saved file is read again";
  EXPECT_THAT(Run("config check ant.yaml env.options.healthy_z_range=[1]").err,
              HasSubstr("expected a list of 2 values, got 1"));
  EXPECT_THAT(Run("config check ant.yaml env.options.ctrl_cost_weight=.inf").err,
              HasSubstr("expected a finite number, got '.inf'"));
}

// Without a value, rows come from the env's description on any machine.
TEST_F(Typing, RowsLeftOutAreTheEnvs) {
  EXPECT_THAT(Shown("tiny.yaml"), AllOf(HasSubstr("num_env_runners: 2"), HasSubstr("num_envs_per_env_runner: 8")));
  EXPECT_EQ(Shown("tiny.yaml rollout=auto"), Shown("tiny.yaml"));
  EXPECT_EQ(Shown("tiny.yaml --set rollout.threads=1 rollout.num_env_runners=2 rollout.num_envs_per_env_runner=8"),
            Shown("tiny.yaml rollout.threads=1"));
  EXPECT_THAT(Shown("tiny.yaml rollout.num_env_runners=3"),
              AllOf(HasSubstr("num_env_runners: 3"), HasSubstr("num_envs_per_env_runner: 1")));
}

TEST_F(Typing, NumbersOutOfRangeAreRejectedWithTheirRange) {
  EXPECT_THAT(Run("config check tiny.yaml budget.iterations=1.5").err, HasSubstr("expected an integer, got 1.5"));
  EXPECT_THAT(Run("config check tiny.yaml seed=-1").err, HasSubstr("seed: -1 is out of range [0,)"));
  EXPECT_THAT(Run("config check tiny.yaml seed=18446744073709551616").err, HasSubstr("does not fit into 64 bits"));
}

TEST_F(Typing, AFolderIsResumedOrItsFilesAreListed) {
  const Finished folder = Run("run " + dir_.string());
  EXPECT_EQ(folder.exit, 2);
  EXPECT_THAT(folder.err, AllOf(HasSubstr("name one of its files"), HasSubstr("tiny.yaml"), HasSubstr("ars.yml")));
  EXPECT_THAT(Run("run tiny.yaml ars.yml").err, HasSubstr("expected PATH=VALUE after the experiment file"));
  ASSERT_EQ(Run("run tiny.yaml budget.iterations=3 --jobs 2").exit, 0);
  const std::string before = ReadFile(dir_ / "outputs/tiny/plan.jsonl");
  const Finished again = Run("run outputs/tiny");
  EXPECT_EQ(again.exit, 0) << again.err;
  EXPECT_THAT(again.err, AllOf(HasSubstr("run tiny.yaml --set budget.iterations=3"), HasSubstr("--jobs 2")));
  EXPECT_THAT(Run("config show outputs/tiny").err, HasSubstr("is a results folder"));
  EXPECT_EQ(ReadFile(dir_ / "outputs/tiny/plan.jsonl"), before) << "only the existing trials";
}

}  // namespace
}  // namespace backplane::end_to_end
