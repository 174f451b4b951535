// Two runs that should be equal: `compare --bits` and `replay` report their equality or the first difference.
#include <gmock/gmock.h>
#include <signal.h>

#include <fstream>

#include "places.hpp"
#include "program.hpp"

namespace backplane::end_to_end {
namespace {

using testing::HasSubstr;

class FingerprintsOfRuns : public ProgramTest {
 protected:
  // Runs the experiment `name` with the learner that can flip a bit.
  void RunFlips(const std::string& name, const std::string& more = "", const std::string& learner = "flips") {
    const Finished run = Run(CommandOf(name, more, learner));
    ASSERT_EQ(run.exit, 0) << run.err;
  }
  std::string CommandOf(const std::string& name, const std::string& more, const std::string& learner = "flips") {
    Write(name + ".yaml", "experiment: " + name + "\nenv: {plugin: cartpole}\nlearner: {plugin: " + learner + "}\n" +
                              "rollout: {num_env_runners: 3, num_envs_per_env_runner: 3}\n"
                              "budget: {iterations: 12}\n"
                              "plugin_path: [" BACKPLANE_BINARY_DIR "/tests/fixtures/plugins]\n");
    return "run " + name + ".yaml " + more;
  }
  Finished Bits(const std::string& a, const std::string& b, const std::string& more = "") {
    return Run("compare --bits outputs/" + a + " outputs/" + b + " " + more);
  }
  std::filesystem::path FileOf(const std::string& name, int attempt = 1) const {
    return Attempt(name, attempt) / "fingerprints.bin";
  }
};

TEST_F(FingerprintsOfRuns, NameIterationAndTensorOfAWeightWithAFlippedBit) {
  RunFlips("plain");
  RunFlips("flipped", "--set learner.options.flip_at=7");
  const Finished found = Bits("plain", "flipped");
  EXPECT_EQ(found.exit, 1);
  EXPECT_THAT(found.out, HasSubstr("the first difference is in iteration 7: weights, tensor critic.weight; 6 iterations and 55 "
                                   "hashes before it are equal"))
      << "8 per iteration (obs, final_obs, action, reward, terminated, truncated, two weights), and 7 before them";
  const nlohmann::json json = nlohmann::json::parse(Bits("plain", "flipped", "--json").out);
  EXPECT_EQ(json["equal"], false);
  EXPECT_EQ(
      json["trials"][0]["first_difference"],
      (nlohmann::json{{"iteration", 7}, {"phase", "weights"}, {"tensor", "critic.weight"}, {"also", nlohmann::json::array()}}));
}

TEST_F(FingerprintsOfRuns, AreEqualForAnyThreadsAndChunks) {
  RunFlips("one", "--set rollout.threads=1");
  RunFlips("three", "--set rollout.threads=3");
  EXPECT_EQ(ReadFile(FileOf("one")), ReadFile(FileOf("three")));
  const Finished found = Bits("one", "three");
  EXPECT_EQ(found.exit, 0) << found.out;
  EXPECT_EQ(found.out, "equal bit for bit: 12 iterations, 96 hashes\n");
}

TEST_F(FingerprintsOfRuns, NameObservationsAsTheFirstDifferenceBetweenSeeds) {
  RunFlips("zero");
  RunFlips("other", "--set seed=1");
  const std::string zero = Attempt("zero").parent_path().string(), other = Attempt("other").string();
  EXPECT_THAT(Bits("zero", "other").out, HasSubstr("no trial is in both folders\n"));
  const Finished found = Run("compare --bits " + zero + " " + other);
  EXPECT_EQ(found.exit, 1);
  EXPECT_THAT(found.out, HasSubstr("the first difference is in iteration 1: observations, tensor obs; 0 iterations and "))
      << "all rewards are 1, and no episode has ended";
}

TEST_F(FingerprintsOfRuns, HashTheStateOfALearnerWithoutNamedTensors) {
  RunFlips("plain", "", "flips_untold");
  RunFlips("flipped", "--set learner.options.flip_at=7", "flips_untold");
  EXPECT_THAT(Bits("plain", "flipped").out, HasSubstr("the first difference is in iteration 7: weights, tensor state;"));
}

TEST_F(FingerprintsOfRuns, AreTheSameForAResumedTrialAsForAnUninterruptedOne) {
  RunFlips("whole");
  const std::string slow = "--set learner.options.sleep_ms=100 --set checkpoint.every_iterations=3";
  const pid_t pid = Start(CommandOf("killed", slow));
  ASSERT_TRUE(Until([&] { return Metrics("killed").size() >= 5; })) << ErrorsOf(pid);
  for (const pid_t trial : TrialProcesses()) kill(trial, SIGKILL);
  Wait(pid);
  const Finished again = Run(CommandOf("killed", slow + " --only-failed"));
  ASSERT_EQ(again.exit, 0) << again.err;
  ASSERT_TRUE(std::filesystem::exists(FileOf("killed", 2)));
  EXPECT_EQ(Bits("whole", "killed").out, "equal bit for bit: 12 iterations, 96 hashes\n");
}

TEST_F(FingerprintsOfRuns, AreComparedByAReplay) {
  RunFlips("replayed");
  const std::string id = Attempt("replayed").parent_path().filename().string();
  const Finished same = Run("replay outputs/replayed " + id);
  EXPECT_EQ(same.exit, 0) << same.err;
  EXPECT_THAT(same.out, HasSubstr("fingerprints: equal bit for bit: 12 iterations, 96 hashes\n"));
  // The fingerprints of a different run; the metrics are this run's.
  RunFlips("flipped", "--set learner.options.flip_at=7");
  std::filesystem::copy_file(FileOf("flipped"), FileOf("replayed"), std::filesystem::copy_options::overwrite_existing);
  const Finished differs = Run("replay outputs/replayed " + id);
  EXPECT_EQ(differs.exit, 1);
  EXPECT_THAT(differs.out, HasSubstr("fingerprints: the first difference is in iteration 7: weights, tensor critic.weight"));
  EXPECT_THAT(differs.out, HasSubstr("12 iterations replayed; the 12 recorded ones are equal bit for bit"));
}

TEST_F(FingerprintsOfRuns, AreOmittedOnRequestAndReportedAsMissing) {
  RunFlips("with");
  RunFlips("without", "--set output.fingerprints=false");
  EXPECT_FALSE(std::filesystem::exists(FileOf("without")));
  EXPECT_EQ(Attempt("with").parent_path().filename(), Attempt("without").parent_path().filename())
      << "it is no part of the identity";
  const Finished found = Bits("with", "without");
  EXPECT_EQ(found.exit, 1);
  EXPECT_THAT(found.out, HasSubstr("nothing to compare: 12 iterations in a, 0 in b, none in both\n"));
  EXPECT_THAT(found.out, HasSubstr("note: b has no fingerprints: the trial ran without output.fingerprints"));
}

TEST_F(FingerprintsOfRuns, ThatAreDamagedAreComparedUpToTheDamage) {
  RunFlips("plain");
  RunFlips("damaged");
  std::string bytes = ReadFile(FileOf("damaged"));
  bytes[bytes.size() - 30] ^= 1;  // in the last record
  std::ofstream(FileOf("damaged"), std::ios::binary) << bytes;
  const Finished found = Bits("plain", "damaged");
  EXPECT_EQ(found.exit, 1) << found.out;
  EXPECT_THAT(found.out,
              HasSubstr("a file is damaged; what could be read is equal: 11 iterations, 88 hashes; only in a: 1 iterations"));
  EXPECT_THAT(found.out, HasSubstr("fingerprints.bin is damaged at byte "));
}

TEST_F(FingerprintsOfRuns, RejectFoldersWithoutResults) {
  RunFlips("plain");
  const Finished wrong = Run("compare --bits outputs/plain outputs/nothing");
  EXPECT_EQ(wrong.exit, 2);
  EXPECT_THAT(wrong.err,
              HasSubstr("expected the folder of a batch (OUT), trial (OUT/trials/ID) or attempt, got outputs/nothing"));
  EXPECT_EQ(Run("compare --bits outputs/plain").exit, 2);
  EXPECT_EQ(Bits("plain", "plain", "--metric SPS").exit, 2);
}

}  // namespace
}  // namespace backplane::end_to_end
