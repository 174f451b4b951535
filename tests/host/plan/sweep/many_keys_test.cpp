// Reading tens of thousands of keys takes linear time, in every section.
#include <time.h>

#include <functional>

#include "sweep_fixture.hpp"

namespace backplane {
namespace {

constexpr size_t kFew = 5000, kMany = 50000;
constexpr double kMostRatio = 20;  // ten times the keys; a linear search per key would need 100 times the time

struct Section {
  const char* name;
  std::string before;  // the keys
  std::string key;     // '#' stands for the key's number
  std::string after = "";
};

// Keys in addition to the text of every section.
const std::vector<Section> kSections = {
    {"GridOfUnknownPaths", "sweep:\n  grid:\n", "    nothing.k#: [1]\n"},
    {"GridOfUnknownKeys", "sweep:\n  grid:\n", "    k#: [1]\n"},
    {"GridOfUnknownOptions", "sweep:\n  grid:\n", "    learner.options.k#: [1]\n"},
    {"GridOfStructure", "sweep:\n  grid:\n", "    env.options.kwargs.k#: [1]\n"},
    {"GridBesideAnotherAxis", "sweep:\n  grid:\n    learner.options.lr: [0.1, 0.2]\n", "    env.options.kwargs.k#: [1]\n"},
    {"Zip", "sweep:\n  zip:\n    one:\n", "      env.options.kwargs.k#: [1, 2]\n"},
    {"List", "sweep:\n  list:\n    - name: one\n", "      env.options.kwargs.k#: 1\n"},
    {"Random", "sweep:\n  random:\n    trials: 2\n    space:\n", "      env.options.kwargs.k#: {uniform: [0, 1]}\n"},
    {"Search", "sweep:\n  search:\n    trials: 2\n    objective: {metric: SPS}\n    space:\n",
     "      env.options.kwargs.k#: {uniform: [0, 1]}\n"},
    {"Derive", "sweep:\n  derive:\n", "    env.options.kwargs.k#: \"1 + 1\"\n"},
    {"Where", "sweep:\n  where:\n", "    - \"learner.options.lr > # / 1000000 - 1\"\n"},
    {"MemoryAxes", "sweep:\n  grid: {learner.options.lr: [0.1]}\n  memory_axes:\n", "    - k#\n"},
    {"KeysOfSweep", "sweep:\n", "  k#: 1\n"},
    {"Seeds", "sweep:\n  seeds:\n", "    k#: 1\n"},
    {"Stages", "stages:\n  - name: one\n", "    env.options.kwargs.k#: 1\n"},
    {"StagesThatAreNotThere", "stages: [{name: a}, {name: b}]\nsweep:\n  grid:\n", "    stages.k#.env.options.size: [1]\n"},
    {"Compare", "compare:\n  metric: SPS\n  arms:\n    - {name: a}\n    - name: b\n", "      env.options.kwargs.k#: 1\n"},
    {"KeysOfCompare", "compare:\n  arms: [{name: a}, {name: b}]\n", "  k#: 1\n"},
    {"Top", "", "k#: 1\n"},
    {"Rollout", "rollout:\n", "  k#: 1\n"},
    {"EvaluationOptions", "evaluation:\n  env:\n    options:\n", "      k#: 1\n"},
    {"Report", "report:\n  kind: comparison\n", "  k#: 1\n"},
    {"Baseline", "report:\n  kind: comparison\n  baseline:\n", "    k#: 1\n"},
    {"Failures", "on_failure:\n", "  k#: fail\n"},
};

class ManyKeysTest : public SweepTest, public testing::WithParamInterface<Section> {
 protected:
  ManyKeysTest() { plugins_["walker"].options.push_back(Option("kwargs", BP_PARAM_ANY, "{}", "mapping")); }

  static std::string TextOf(const Section& section, size_t keys) {
    std::string text = section.before;
    for (size_t i = 0; i < keys; ++i) {
      std::string key = section.key;
      text += key.replace(key.find('#'), 1, std::to_string(i));
    }
    return text + section.after;
  }

  // CPU time of this thread, because other programs may use the cores.
  static double Now() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
  }
  double SecondsFor(const std::string& text) {
    const double begin = Now();
    PlanText(text);
    return Now() - begin;
  }

  void ExpectLinear(const std::function<std::string(size_t keys)>& text) {
    const std::string few = text(kFew), many = text(kMany);
    double ratio = 0;
    for (int attempt = 0; attempt < 3 && (attempt == 0 || ratio > kMostRatio); ++attempt) {
      const double seconds = SecondsFor(few);
      ratio = SecondsFor(many) / seconds;
    }
    EXPECT_LE(ratio, kMostRatio);
  }
};

TEST_P(ManyKeysTest, TakesTimeInProportion) {
  ExpectLinear([](size_t keys) { return kMinimal + TextOf(GetParam(), keys); });
}

INSTANTIATE_TEST_SUITE_P(Sections, ManyKeysTest, testing::ValuesIn(kSections),
                         [](const testing::TestParamInfo<Section>& info) { return std::string(info.param.name); });

TEST_F(ManyKeysTest, OptionsTakeTimeInProportion) {
  for (const char* section : {"env: {plugin: walker, options: {", "learner: {plugin: climber, options: {"}) {
    ExpectLinear([&](size_t keys) {
      const std::string other = section[0] == 'e' ? "learner: climber\n" : "env: walker\n";
      return "budget: {iterations: 1}\n" + other + TextOf({"", section, "k#: 1,\n  "}, keys) + "}}\n";
    });
  }
}

// Each placeholder is an option, and each option an axis.
TEST_F(ManyKeysTest, PlaceholdersOfACommandTakeTimeInProportion) {
  ExpectLinear([](size_t keys) {
    return TextOf({"", "learner:\n  command: [run", ",\n    \"{k#}\""}, keys) + "]\n" +
           TextOf({"", "  options:\n", "    k#: 1\n"}, keys) +
           TextOf({"", "sweep:\n  grid:\n", "    learner.options.k#: [2]\n"}, keys);
  });
}

TEST_F(ManyKeysTest, PlaceholdersWithoutOptionsTakeTimeInProportion) {
  ExpectLinear([](size_t keys) { return TextOf({"", "learner:\n  command: [run", ",\n    \"{k#}\""}, keys) + "]\n"; });
}

TEST_F(ManyKeysTest, OptionsWithoutPlaceholdersTakeTimeInProportion) {
  ExpectLinear([](size_t keys) {
    return TextOf({"", "learner:\n  command: [run", ",\n    \"{k#}\""}, keys) + "]\n" +
           TextOf({"", "  options:\n", "    other_k#: 1\n"}, keys);
  });
}

// Prints each note once.
TEST_F(ManyKeysTest, AliasesOfManyPointsTakeTimeInProportion) {
  ExpectLinear([](size_t keys) {
    return kMinimal +
           TextOf({"", "sweep:\n  list:\n", "    - {learner.options.num_workers: 1, env.options.kwargs.a: #}\n"}, keys / 5);
  });
}

}  // namespace
}  // namespace backplane
