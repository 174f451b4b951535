// Changes that findings propose to a tuning, and their effect on an experiment.
#include "study/change.hpp"

#include <gmock/gmock.h>

namespace backplane {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::Pair;

Proposal FindingOf(const std::string& id, std::vector<Fix> fixes) {
  Proposal finding;
  finding.id = id;
  finding.title = "because of " + id;
  finding.fixes = std::move(fixes);
  return finding;
}

Fix FixOf(const std::string& path, const json& from, const json& to) {
  Fix fix;
  fix.path = path;
  fix.from = from;
  fix.to = to;
  return fix;
}

std::vector<std::string> Told(const std::vector<Change>& changes) {
  std::vector<std::string> told;
  for (const Change& change : changes) told.push_back(change.finding + " " + change.fix.path + "=" + change.fix.to.dump());
  return told;
}

TEST(Change, FixesOfSpeedFindingsBecomeChangesInTheirOrder) {
  const std::vector<Proposal> findings = {
      FindingOf("update_bound", {FixOf("learner.options.epochs", 10, 5), FixOf("learner.options.batch", 256, 512)}),
      FindingOf("env_bound", {FixOf("rollout.threads", 1, 2), FixOf("learner.options.epochs", 10, 5)})};
  EXPECT_THAT(Told(SpeedChangesOf(findings)),
              ElementsAre("update_bound learner.options.epochs=5", "update_bound learner.options.batch=512",
                          "env_bound rollout.threads=2"));
}

TEST(Change, OnlySpeedFindingsAreTuned) {
  const std::vector<Proposal> findings = {
      FindingOf("unstable_learning", {FixOf("learner.options.lr", 1e-3, 5e-4)}),
      FindingOf("ram_near_limit", {FixOf("rollout.num_envs_per_env_runner", 64, 32)}),
      FindingOf("out_of_memory", {FixOf("learner.options.batch", 64, 32)}),
      FindingOf("vram_near_limit", {FixOf("learner.options.batch", 64, 32)}),
      FindingOf("noisy_measurement", {FixOf("sweep.seeds.n", 4, 8), FixOf("budget.iterations", 3, 6)}),
      FindingOf("io_stalled", {FixOf("checkpoint.every_iterations", 1, 2)})};
  EXPECT_TRUE(SpeedChangesOf(findings).empty());
}

TEST(Change, KeysOutsideTheIdentityDoNotChangeLearning) {
  EXPECT_FALSE(CanChangeLearning({"", "", FixOf("rollout.threads", 1, 2)}));
  EXPECT_FALSE(CanChangeLearning({"", "", FixOf("resources.cpus", 1, 2)}));
  EXPECT_TRUE(CanChangeLearning({"", "", FixOf("rollout.num_env_runners", 1, 2)}));
  EXPECT_TRUE(CanChangeLearning({"", "", FixOf("learner.options.epochs", 10, 5)}));
  Change both{"", "", FixOf("rollout.threads", 1, 2)};
  both.fix.also = {{"learner.options.shards", 2}};
  EXPECT_TRUE(CanChangeLearning(both)) << "dependent changes count, too";
}

TEST(Change, IsAppliedWithItsDependentValues) {
  Change change{"", "", FixOf("learner.options.micro", 8, 4)};
  change.fix.also = {{"learner.options.parts", 2}};
  json config = {{"learner", {{"options", {{"micro", 8}, {"parts", 1}, {"lr", 0.1}}}}}};
  Apply(change, &config);
  EXPECT_EQ(config, json::parse(R"({"learner": {"options": {"micro": 4, "parts": 2, "lr": 0.1}}})"));
}

TEST(Change, TheLaterChangeOfAPathCounts) {
  const std::vector<Change> changes = {{"", "", FixOf("learner.options.epochs", 10, 5)},
                                       {"", "", FixOf("rollout.threads", 1, 2)},
                                       {"", "", FixOf("learner.options.epochs", 5, 2)}};
  EXPECT_THAT(ValuesOf(changes), ElementsAre(Pair("rollout.threads", json(2)), Pair("learner.options.epochs", json(2))));
}

}  // namespace
}  // namespace backplane
