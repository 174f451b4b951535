#include "record/study.hpp"

#include <gmock/gmock.h>

#include <cmath>

namespace backplane {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

// A search as its events describe it.
class StudyTest : public testing::Test {
 protected:
  StudyTest() {
    Say({{"op", "open"},
         {"name", "walk"},
         {"method", "tpe"},
         {"metric", "eval/return"},
         {"direction", "maximize"},
         {"space",
          {{"lr", {{"log_uniform", {1e-4, 1e-2}}}}, {"learner", {{"choice", {{{"plugin", "a"}}, {{"plugin", "b"}}}}}}}}},
        {});
  }
  void Say(const json& request, const json& reply) { Apply(SearchMessage{request, reply}); }
  void Apply(const EventBody& body, const std::string& trial = "") {
    t_ += 10;
    record_.Apply(Event{++seq_, t_, "", trial, trial.empty() ? 0u : 1u, body});
  }
  void Suggest(uint64_t number, double lr, const std::string& point) {
    Say({{"op", "ask"}}, {{"number", number}, {"params", {{"lr", lr}}}});
    Apply(SearchPoint{number, point, ""});
  }
  void Plan(uint64_t number, const std::string& point, const std::string& trial, uint64_t seed, bool confirms = false) {
    PlanLine line;
    line.trial_id = trial;
    line.point_id = point;
    line.name = "lr of " + point;
    line.seed = seed;
    line.number = number;
    line.confirms = confirms;
    plan_.push_back(line);
  }
  Study Of() const { return *StudyOfSearch(plan_, record_); }

  BatchRecord record_;
  std::vector<PlanLine> plan_;
  double t_ = 1000;
  uint64_t seq_ = 0;
};

TEST_F(StudyTest, IsAbsentWithoutASearch) { EXPECT_FALSE(StudyOfSearch({}, BatchRecord{})); }

// Events sort the paths; the plan keeps the order of the experiment file.
TEST_F(StudyTest, KeepsOptionsInTheOrderOfTheFile) {
  Say({{"op", "open"},
       {"space",
        {{"a", {{"uniform", {0, 1}}}},
         {"b", {{"uniform", {0, 1}}}},
         {"c", {{"uniform", {0, 1}}}},
         {"d", {{"uniform", {0, 1}}}}}}},
      {});
  Plan(0, "p0", "t0", 7);
  plan_.back().values = {{"c", 0.5}, {"a", 0.5}};  // other points also have `b`
  Plan(1, "p1", "t1", 7);
  plan_.back().values = {{"c", 0.5}, {"b", 0.5}, {"a", 0.5}};
  std::vector<std::string> paths;
  for (const SearchedOption& option : Of().space) paths.push_back(option.path);
  EXPECT_THAT(paths, ElementsAre("c", "a", "b", "d"));
}

TEST_F(StudyTest, SuggestionHasItsTrialsAndValues) {
  Suggest(0, 1e-3, "p0");
  Plan(0, "p0", "t0", 7);
  Plan(0, "p0", "t0c", 1007, /*confirms=*/true);
  Apply(AttemptStart{}, "t0");
  EXPECT_EQ(Of().trials.at(0).state, StudyState::kRunning);
  Say({{"op", "report"}, {"number", 0}, {"step", 5}, {"value", 3.5}}, {{"prune", false}});
  Say({{"op", "tell"}, {"number", 0}, {"state", "complete"}, {"value", 4.5}}, {});
  const StudyTrial trial = Of().trials.at(0);
  EXPECT_EQ(trial.state, StudyState::kComplete);
  EXPECT_EQ(trial.value, 4.5);
  EXPECT_THAT(trial.steps, ElementsAre(Pair(5, 3.5)));
  EXPECT_THAT(trial.trials, ElementsAre("t0"));
  EXPECT_THAT(trial.seeds, ElementsAre(7));
  EXPECT_THAT(trial.confirming, ElementsAre("t0c"));
  EXPECT_LT(trial.started, *trial.ended);
}

TEST_F(StudyTest, BestIsTheFirstOfEqualCompleteOnes) {
  const auto tell = [&](uint64_t number, const char* state, double value) {
    Suggest(number, 1e-3, "p" + std::to_string(number));
    Say({{"op", "tell"}, {"number", number}, {"state", state}, {"value", value}}, {});
  };
  tell(0, "complete", 1);
  tell(1, "pruned", 9);
  tell(2, "complete", 3);
  tell(3, "complete", 3);
  EXPECT_EQ(Of().Best()->number, 2u);
  EXPECT_EQ(Of().Count(StudyState::kPruned), 1u);
  Study study = Of();
  study.maximize = false;
  EXPECT_EQ(study.Best()->number, 0u);
}

TEST_F(StudyTest, IgnoresValuesThatAreNotFinite) {
  Suggest(0, 1e-3, "p0");
  Say({{"op", "report"}, {"number", 0}, {"step", 1}, {"value", nullptr}}, {});
  Say({{"op", "tell"}, {"number", 0}, {"state", "complete"}, {"value", std::nan("")}}, {});
  EXPECT_EQ(Of().trials.at(0).state, StudyState::kFailed);
  EXPECT_FALSE(Of().trials.at(0).Latest());
  EXPECT_EQ(Of().Best(), nullptr);
}

TEST_F(StudyTest, PrunedTrialHasItsLastValue) {
  Suggest(0, 1e-3, "p0");
  for (const int step : {1, 2})
    Say({{"op", "report"}, {"number", 0}, {"step", step}, {"value", 10 * step}}, {{"prune", step == 2}});
  Say({{"op", "tell"}, {"number", 0}, {"state", "pruned"}}, {});
  EXPECT_FALSE(Of().trials.at(0).value);
  EXPECT_EQ(Of().trials.at(0).Latest(), 20);
}

TEST_F(StudyTest, PrunedSuggestionWithACompleteTrialIsComplete) {
  for (const int number : {0, 1, 2}) {
    const std::string n = std::to_string(number);
    Suggest(static_cast<uint64_t>(number), 1e-3, "p" + n);
    Plan(static_cast<uint64_t>(number), "p" + n, "t" + n, 7);
    AttemptEnd end;
    end.state = number == 0 ? TrialState::kPruned : TrialState::kCompleted;
    Apply(AttemptStart{}, "t" + n);
    Apply(end, "t" + n);
    Say({{"op", "tell"}, {"number", number}, {"state", number == 2 ? "complete" : "pruned"}, {"value", 1}}, {});
  }
  EXPECT_FALSE(Of().trials.at(0).came_to_end);
  EXPECT_TRUE(Of().trials.at(1).came_to_end);
  EXPECT_FALSE(Of().trials.at(2).came_to_end);
  EXPECT_EQ(PrunedText(Of()), "2 pruned, of which 1 ran to its end");
}

TEST_F(StudyTest, SuggestionWithoutAPointHasAReason) {
  Suggest(0, 1e-3, "");
  Say({{"op", "tell"}, {"number", 0}, {"state", "fail"}}, {});
  EXPECT_THAT(Of().trials.at(0).trials, IsEmpty());
  EXPECT_THAT(Of().trials.at(0).why, testing::HasSubstr("where"));
}

TEST(SearchSpace, ValuesHaveTheirPlaceInTheScaleTheyAreDrawnIn) {
  const std::vector<SearchedOption> space = ReadSearchSpace({{"a", {{"log_uniform", {1e-4, 1e-2}}}},
                                                             {"b", {{"int", {1, 9}}, {"step", 2}}},
                                                             {"c", {{"choice", {"x", "y", "z"}}}},
                                                             {"d", {{"uniform", "wrong"}}}});
  ASSERT_EQ(space.size(), 3u);
  EXPECT_NEAR(*space[0].PlaceOf(1e-3), 0.5, 1e-12);
  EXPECT_EQ(space[1].PlaceOf(3), 0.25);
  EXPECT_TRUE(space[1].whole);
  EXPECT_EQ(space[1].step, 2);
  EXPECT_EQ(space[2].PlaceOf("y"), 0.5);
  EXPECT_FALSE(space[2].PlaceOf("w"));
  EXPECT_FALSE(space[0].PlaceOf("x"));
}

TEST(SearchSpace, AMappingThatNamesAPluginIsCalledByIt) {
  EXPECT_EQ(ChoiceWords({{"plugin", "ppo"}}), "ppo");
  EXPECT_EQ(ChoiceWords({64, 64}), "[64,64]");
  EXPECT_EQ(ChoiceWords("tanh"), "tanh");
}

}  // namespace
}  // namespace backplane
