// Decisions of a tuning, from numbers of a fictitious machine: it has a speed for each setting and a little noise.
#include "study/tuning.hpp"

#include <gmock/gmock.h>

#include <map>

namespace backplane {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kEpochs = "learner.options.epochs", kBatch = "learner.options.batch", kThreads = "rollout.threads";

Change ChangeOf(const std::string& path, int from, int to) {
  Change change{"bound", "it is bound", {}};
  change.fix.path = path;
  change.fix.from = from;
  change.fix.to = to;
  return change;
}

// A learner whose speed falls with its epochs and grows with its threads.
class MadeUpRuns : public TuningRuns {
 public:
  std::map<std::string, int> file = {{kEpochs, 8}, {kBatch, 64}, {kThreads, 1}};
  std::function<double(const std::map<std::string, int>&)> speed = [](const auto& at) {
    return 1000.0 * at.at(kThreads) / (2 + at.at(kEpochs));
  };
  std::function<double(const std::map<std::string, int>&)> score = [](const auto&) { return 100.0; };
  std::function<bool(const std::map<std::string, int>&)> fails = [](const auto&) {
    return false;
  };  // two of its seeds, in the check
  // As a diagnosis would: epochs halved, batch doubled, threads up to 2.
  std::vector<std::string> proposed = {kEpochs, kBatch, kThreads};
  std::vector<double> noise = {0.99, 1.01, 1.0, 1.005};
  bool and_back = false;  // epochs 8 -> 4, and of 4 epochs 8 again
  double seconds = 10;
  int direction = 1;
  std::string breaks;  // path whose change makes trials fail
  size_t interrupt_at = SIZE_MAX;
  std::vector<std::string> measured;  // "epochs=4", in order
  std::vector<std::string> learned;

  std::optional<Measurement> Measure(size_t step, const std::vector<Change>& kept, const Change* tried) override {
    if (step == interrupt_at) return std::nullopt;
    EXPECT_EQ(step, measured.size());
    measured.push_back(tried ? tried->fix.path.substr(tried->fix.path.rfind('.') + 1) + "=" + tried->fix.to.dump()
                             : "as it is");
    Measurement measurement;
    measurement.seconds = seconds;
    measurement.direction = direction;
    measurement.next_s = tried ? seconds : 2 * seconds;
    measurement.now = SideOf(With(kept));
    if (!tried) return measurement;
    std::vector<Change> all = kept;
    all.push_back(*tried);
    measurement.tried = SideOf(With(all));
    if (tried->fix.path == breaks) measurement.tried = {{900}, {}, {}, "3 of 4 trials FAILED (oom)"};
    return measurement;
  }

  std::optional<LearningScores> Learn(const std::vector<Change>& kept) override {
    LearningScores scores{"return", 1, {}, {}, {1000, 1010}, {2000, 2020}, ""};
    for (const double one : {0.98, 1.0, 1.02, 1.01, 0.99}) {
      scores.original.push_back(one * score(file));
      scores.tuned.push_back(one * score(With(kept)));
    }
    if (fails(With(kept))) scores.tuned.resize(3);
    learned.push_back(std::to_string(kept.size()));
    return scores;
  }

 private:
  std::map<std::string, int> With(const std::vector<Change>& changes) const {
    std::map<std::string, int> setting = file;
    for (const Change& change : changes) setting[change.fix.path] = change.fix.to.get<int>();
    return setting;
  }

  MeasuredSide SideOf(const std::map<std::string, int>& setting) const {
    MeasuredSide side;
    for (const double one : noise) side.speeds.push_back(one * speed(setting));
    side.headroom = 1 + setting.at(kEpochs);
    for (const std::string& path : proposed) {
      const int from = setting.at(path);
      const int to = path == kEpochs && and_back ? 12 - from
                     : path == kEpochs           ? std::max(1, from / 2)
                     : path == kBatch            ? 2 * from
                                                 : 2;
      if (from != to) side.proposals.push_back(ChangeOf(path, from, to));
    }
    return side;
  }
};

Tuning TuneAll(MadeUpRuns* runs, double budget_s = 1e9, std::vector<std::string>* told = nullptr) {
  return Tune(runs, budget_s, [&](const TuningStep& step) {
    if (told) told->push_back(step.why);
  });
}

TEST(Tuning, KeepsFasterChangesDropsTheRestAndStopsAtTheEnd) {
  MadeUpRuns runs;
  runs.proposed = {kEpochs, kBatch, kThreads};
  std::vector<std::string> told;
  const Tuning tuning = TuneAll(&runs, 1e9, &told);
  // 10 -> 6 -> 4 -> 3 units of time; the batch changes nothing; twice the threads, twice the speed.
  EXPECT_THAT(runs.measured, ElementsAre("as it is", "epochs=4", "epochs=2", "epochs=1", "batch=128", "threads=2"));
  EXPECT_THAT(told, ElementsAre("faster beyond noise", "faster beyond noise", "faster beyond noise", "no gain beyond noise",
                                "faster beyond noise"));
  EXPECT_NEAR(tuning.Gained(), 10.0 / 3 * 2, 1e-9);
  EXPECT_EQ(tuning.Kept().size(), 4u);
  EXPECT_THAT(tuning.why_stopped, HasSubstr("All changes that findings propose were measured."));
}

TEST(Tuning, LaterStepsStartFromThePresentSetting) {
  MadeUpRuns runs;
  runs.proposed = {kEpochs};
  const Tuning tuning = TuneAll(&runs);
  ASSERT_EQ(tuning.steps.size(), 3u);
  EXPECT_EQ(tuning.steps[2].change.fix.from, 2);
  EXPECT_NEAR(*tuning.steps[2].before, 250, 0.5);
  EXPECT_NEAR(*tuning.steps[2].after, 1000.0 / 3, 0.5);
}

TEST(Tuning, AStepTooSmallToBeShownIsTriedTwiceAsFar) {
  MadeUpRuns runs;
  runs.proposed = {kEpochs};
  runs.noise = {0.9, 1.1, 0.95, 1.05};
  runs.file[kEpochs] = 64;
  runs.speed = [](const auto& at) { return 1000.0 / (256 + at.at(kEpochs)); };
  const Tuning tuning = TuneAll(&runs);
  ASSERT_GE(tuning.steps.size(), 2u);
  EXPECT_EQ(tuning.steps[0].why, "no gain beyond noise");
  EXPECT_EQ(tuning.steps[1].change.fix.from, 64) << "from the unchanged setting";
  EXPECT_EQ(tuning.steps[1].change.fix.to, 16);
}

TEST(Tuning, SlowerChangesAreNotFollowed) {
  MadeUpRuns runs;
  runs.proposed = {kEpochs};
  runs.speed = [](const auto& at) { return 100.0 * at.at(kEpochs); };
  const Tuning tuning = TuneAll(&runs);
  EXPECT_THAT(runs.measured, ElementsAre("as it is", "epochs=4"));
  EXPECT_EQ(tuning.steps[0].why, "slower");
  EXPECT_THAT(tuning.Kept(), IsEmpty());
  EXPECT_EQ(tuning.Gained(), 1);
}

TEST(Tuning, TheWayBackIsNotTried) {
  MadeUpRuns runs;
  runs.proposed = {kEpochs};
  runs.and_back = true;
  TuneAll(&runs);
  EXPECT_THAT(runs.measured, ElementsAre("as it is", "epochs=4"));
}

TEST(Tuning, TheHeadroomBelongsToTheKeptSetting) {
  MadeUpRuns faster;
  faster.proposed = {kEpochs};
  EXPECT_EQ(TuneAll(&faster).headroom, 2) << "with one epoch";
  MadeUpRuns slower;
  slower.proposed = {kEpochs};
  slower.speed = [](const auto& at) { return 100.0 * at.at(kEpochs); };
  EXPECT_EQ(TuneAll(&slower).headroom, 9) << "with the original eight";
}

TEST(Tuning, AMeasureThatShouldFallIsBetterWhenItDoes) {
  MadeUpRuns runs;
  runs.proposed = {kEpochs};
  runs.file[kEpochs] = 2;
  runs.direction = -1;
  runs.speed = [](const auto& at) { return 10.0 * at.at(kEpochs); };  // seconds of an iteration
  const Tuning tuning = Tune(&runs, 1e9, [](const TuningStep&) {});
  ASSERT_EQ(tuning.steps.size(), 1u);
  EXPECT_TRUE(tuning.steps[0].kept);
  EXPECT_NEAR(tuning.Gained(), 2, 1e-9);
}

TEST(Tuning, ATrialThatFailsDropsTheChangeWithItsReason) {
  MadeUpRuns runs;
  runs.breaks = kEpochs;
  runs.proposed = {kEpochs, kThreads};
  const Tuning tuning = TuneAll(&runs);
  ASSERT_EQ(tuning.steps.size(), 2u);
  EXPECT_FALSE(tuning.steps[0].kept);
  EXPECT_EQ(tuning.steps[0].why, "3 of 4 trials FAILED (oom)");
  EXPECT_FALSE(tuning.steps[0].gain);
  EXPECT_TRUE(tuning.steps[1].kept);
}

TEST(Tuning, StartsNoMeasurementThatWouldNotEndWithinTheBudget) {
  MadeUpRuns runs;
  const Tuning tuning = TuneAll(&runs, 35);  // 10 s as it is; the first pair should take 20, but takes 10
  EXPECT_THAT(runs.measured, ElementsAre("as it is", "epochs=4", "epochs=2"));
  EXPECT_EQ(tuning.spent_s, 30);
  EXPECT_EQ(tuning.why_stopped, "The next measurement needs about 10 s, but 30 s of the budget of 35 s are used.");
  MadeUpRuns none;
  EXPECT_THAT(TuneAll(&none, 29).steps, IsEmpty());
}

TEST(Tuning, AnInterruptedTuningKeepsItsSteps) {
  MadeUpRuns runs;
  runs.interrupt_at = 2;
  const Tuning tuning = TuneAll(&runs);
  EXPECT_TRUE(tuning.interrupted);
  EXPECT_EQ(tuning.steps.size(), 1u);
  EXPECT_TRUE(tuning.why_stopped.empty());
}

TEST(Tuning, WithoutASpeedThereIsNothingToTune) {
  MadeUpRuns runs;
  runs.noise = {};
  const Tuning tuning = TuneAll(&runs);
  EXPECT_THAT(tuning.steps, IsEmpty());
  EXPECT_FALSE(tuning.speed);
}

TEST(Learning, TakesBackTheLastRiskyStepUntilLearningIsAsGood) {
  MadeUpRuns runs;
  runs.score = [](const auto& at) { return at.at(kEpochs) < 4 ? 50.0 : 100.0; };
  Tuning tuning = TuneAll(&runs);
  const LearningCheck check = CheckLearning(&runs, &tuning);
  // Kept steps: epochs 8 -> 4 -> 2 -> 1, and threads. The last two of epochs reduce the score; threads cannot.
  EXPECT_THAT(runs.learned, ElementsAre("4", "3", "2"));
  ASSERT_EQ(check.rounds.size(), 3u);
  EXPECT_TRUE(check.rounds[0].learned.is_worse);
  EXPECT_TRUE(check.rounds[1].learned.is_worse);
  EXPECT_FALSE(check.rounds[2].learned.is_worse);
  EXPECT_NEAR(check.rounds[0].speed->ratio, 2, 1e-6);
  EXPECT_FALSE(check.rounds[1].speed) << "the original was measured at another time";
  EXPECT_FALSE(tuning.steps[2].kept);
  EXPECT_TRUE(tuning.steps[2].taken_back);
  EXPECT_FALSE(tuning.steps[1].kept);
  EXPECT_TRUE(tuning.steps[0].kept);
  EXPECT_TRUE(tuning.steps[4].kept) << "threads are not suspected";
}

TEST(Learning, SeedsThatDoNotComeToTheirEndAreWorse) {
  MadeUpRuns runs;
  runs.fails = [](const auto& at) { return at.at(kEpochs) < 2; };
  Tuning tuning = TuneAll(&runs);
  const LearningCheck check = CheckLearning(&runs, &tuning);
  ASSERT_EQ(check.rounds.size(), 2u);
  EXPECT_TRUE(check.rounds[0].learned.is_worse);
  EXPECT_FALSE(check.rounds[1].learned.is_worse);
}

TEST(Learning, AfterTheLastStepIsTakenBackTheHeadroomIsThatBeforeIt) {
  MadeUpRuns runs;
  runs.proposed = {kEpochs};
  runs.score = [](const auto& at) { return at.at(kEpochs) < 2 ? 50.0 : 100.0; };
  Tuning tuning = TuneAll(&runs);
  EXPECT_EQ(tuning.headroom, 2);
  CheckLearning(&runs, &tuning);
  EXPECT_EQ(tuning.headroom, 3) << "with two epochs";
}

TEST(Learning, IsNotCheckedIfNoChangeCanAffectIt) {
  MadeUpRuns runs;
  runs.proposed = {kThreads};
  Tuning tuning = TuneAll(&runs);
  const LearningCheck check = CheckLearning(&runs, &tuning);
  EXPECT_THAT(check.rounds, IsEmpty());
  EXPECT_THAT(check.why_none, HasSubstr("can affect learning"));
  EXPECT_TRUE(tuning.steps[0].kept);
}

}  // namespace
}  // namespace backplane
