// Common behaviour of the MuJoCo tasks: errors, users' models, resets, rewards, snapshots.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>

#include "ant.hpp"
#include "half_cheetah.hpp"
#include "humanoid.hpp"
#include "mujoco/errors.hpp"
#include "mujoco_row.hpp"
#include "places.hpp"

namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kTasks[] = {"ant", "half_cheetah", "humanoid"};
std::string File(const std::string& task) { return BACKPLANE_PLUGIN_DIR "/env_" + task + ".so"; }

// Writes a model and returns the options that select it.
class OwnModel {
 public:
  explicit OwnModel(const std::string& xml) {
    std::string test = testing::UnitTest::GetInstance()->current_test_info()->name();  // tests run in parallel
    std::replace(test.begin(), test.end(), '/', '_');
    path_ = testing::TempDir() + test + ".xml";
    std::ofstream(path_) << xml;
  }
  ~OwnModel() { std::filesystem::remove(path_); }
  OwnModel(const OwnModel&) = delete;
  nlohmann::json options() const { return {{"xml_path", path_}}; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// A body on one root joint with a swinging limb and `actuator`.
std::string Xml(const std::string& task, const std::string& actuator, const std::string& option = "") {
  const std::string root = task == "half_cheetah" ? "<joint type='slide' axis='1 0 0'/>" : "<freejoint/>";
  return "<mujoco>" + option + "<worldbody><body pos='0 0 1.2'>" + root +
         "<geom size='0.1'/><body name='limb'><joint name='j' axis='0 1 0'/><geom type='capsule' size='0.05' fromto='0 0 0 0.3 "
         "0 0'/>"
         "</body></body></worldbody><actuator>" +
         actuator + "</actuator></mujoco>";
}
constexpr const char* kMotor = "<motor joint='j' ctrlrange='-1 1' ctrllimited='true'/>";

// The error of creating a task with these options.
bp::Error ErrorOf(const std::string& task, const nlohmann::json& options) {
  try {
    if (task == "ant") harness::Single<ant::Ant> row(task, options);
    if (task == "half_cheetah") harness::Single<half_cheetah::HalfCheetah> row(task, options);
    if (task == "humanoid") harness::Single<humanoid::Humanoid> row(task, options);
  } catch (const bp::Error& e) {
    return e;
  }
  return bp::Error(BP_OK, "no error");
}

TEST(MuJoCo, AnErrorIsCaughtOnItsOwnThread) {
  mj::ContainErrors();
  int caught = 0;
  std::mutex mutex;
  const auto raise = [&] {
    for (int i = 0; i < 50; ++i) {
      const char* text = mj::Catch([] { mju_error("the model broke"); });
      std::lock_guard lock(mutex);
      caught += text != nullptr && std::string(text).find("the model broke") != std::string::npos;
    }
  };
  std::thread other(raise);
  raise();
  other.join();
  EXPECT_EQ(caught, 100);
}

class EveryTask : public testing::TestWithParam<const char*> {
 protected:
  const std::string task_ = GetParam();
};
INSTANTIATE_TEST_SUITE_P(MuJoCo, EveryTask, testing::ValuesIn(kTasks),
                         [](const auto& tested) { return std::string(tested.param); });

TEST_P(EveryTask, TakesAModelOfOtherSizes) {
  const OwnModel own(Xml(task_, kMotor));
  harness::Env env(File(task_), 1, 1, own.options());
  EXPECT_EQ(env.Size("action"), 1);
  const std::map<std::string, int64_t> sizes = {
      {"ant", 6 + 7 + 12}, {"half_cheetah", 1 + 2}, {"humanoid", 6 + 7 + 20 + 12 + 1 + 12}};
  EXPECT_EQ(env.Size("obs"), sizes.at(task_));
  ASSERT_EQ(env.Reset(0, {1}), BP_OK);
  for (int t = 0; t < 20; ++t) ASSERT_EQ(env.Step(), BP_OK) << env.error();
}

TEST_P(EveryTask, RejectsAModelWithACause) {
  const auto refuses = [&](const std::string& xml, const auto& matcher) {
    const OwnModel own(xml);
    const bp::Error e = ErrorOf(task_, own.options());
    EXPECT_EQ(e.code(), BP_E_CONFIG);
    EXPECT_THAT(e.what(), AllOf(HasSubstr("xml_path"), HasSubstr(own.path()), matcher));
  };
  refuses("<mujoco><worldbody><geom size='oops'/></worldbody></mujoco>", HasSubstr("line 1"));
  refuses("<mujoco><worldbody/></mujoco>", HasSubstr("got no joint"));
  refuses(Xml(task_ == "half_cheetah" ? "ant" : "half_cheetah", kMotor),
          HasSubstr(task_ == "half_cheetah" ? "got a free" : "got a slide"));
  refuses(Xml(task_, ""), HasSubstr("expected at least one actuator, got none"));
  refuses(Xml(task_, "<motor joint='j'/>"), HasSubstr("ctrlrange"));
  const bp::Error absent = ErrorOf(task_, {{"xml_path", "/nonexistent.xml"}});
  EXPECT_EQ(absent.code(), BP_E_CONFIG);
  EXPECT_THAT(absent.what(), AllOf(HasSubstr("xml_path"), HasSubstr("/nonexistent.xml")));
}

TEST(MuJoCo, HumanoidObservesAtMost25Tendons) {
  for (const int n : {25, 26}) {
    std::string xml = Xml("humanoid", kMotor), tendons = "<tendon>";
    for (int i = 0; i < n; ++i) tendons += "<fixed><joint joint='j' coef='1'/></fixed>";
    xml.insert(xml.find("<actuator>"), tendons + "</tendon>");
    const OwnModel own(xml);
    const bp::Error e = ErrorOf("humanoid", own.options());
    EXPECT_EQ(e.code(), n == 25 ? BP_OK : BP_E_CONFIG) << e.what();
    EXPECT_THAT(e.what(),
                HasSubstr(n == 25 ? "no error" : "at most 25 tendons, whose lengths and velocities INFO contains, got 26"));
  }
}

TEST(MuJoCo, RejectsContradictoryOptions) {
  const auto refuses = [](const char* task, const nlohmann::json& options, const char* text) {
    const bp::Error e = ErrorOf(task, options);
    EXPECT_EQ(e.code(), BP_E_CONFIG);
    EXPECT_THAT(e.what(), HasSubstr(text));
  };
  refuses("ant", {{"main_body", "nose"}},
          "main_body: model 'ant.xml' has no body 'nose'; bodies: 0 world, 1 torso, 2 front_left_leg");
  refuses("ant", {{"healthy_z_min", 2}}, "healthy_z_min: expected at most healthy_z_max");
  refuses("ant", {{"contact_force_min", 2}}, "contact_force_min: expected at most contact_force_max");
  refuses("humanoid", {{"healthy_z_min", 3}}, "healthy_z_min: expected at most healthy_z_max");
  refuses("humanoid", {{"contact_cost_min", 11}}, "contact_cost_min: expected at most contact_cost_max");
}

TEST_P(EveryTask, NamesRowAndTimeWhenTheSimulationExplodes) {
  const OwnModel own(Xml(task_, "<motor joint='j' ctrlrange='-1 1' ctrllimited='true' gear='1e9'/>"));
  harness::Env env(File(task_), 3, 1, own.options());
  ASSERT_EQ(env.Reset(0, {1, 2, 3}), BP_OK);
  *env.At<float>("action", 1) = 1;  // the others rest
  bp_status status = BP_OK;
  for (int t = 0; t < 100 && status == BP_OK; ++t) status = env.Step();
  EXPECT_EQ(status, BP_E_NUMERIC);
  EXPECT_THAT(env.error(), AllOf(HasSubstr("row 1: q"), HasSubstr(" s into the episode"), HasSubstr("unstable"),
                                 HasSubstr("timestep"), HasSubstr("frame_skip"), HasSubstr("xml_path")));
}

TEST_P(EveryTask, NamesAnActionThatIsNotANumber) {
  harness::Env env(File(task_), 2);
  ASSERT_EQ(env.Reset(0, {1, 2}), BP_OK);
  env.At<float>("action", 1)[3] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(env.Step(), BP_E_NUMERIC);
  EXPECT_THAT(env.error(), AllOf(HasSubstr("row 1: ctrl[3]"), HasSubstr("began 0 s into"), HasSubstr("learner")));
}

TEST_P(EveryTask, StartsWithinItsNoise) {
  constexpr uint64_t kRows = 400;
  const double scale = 0.02, width = scale / std::sqrt(3.0);
  harness::Env env(File(task_), kRows, 1,
                   {{"reset_noise_scale", scale}, {"exclude_current_positions_from_observation", false}});
  harness::Env exact(File(task_), 1, 1, {{"reset_noise_scale", 0}, {"exclude_current_positions_from_observation", false}});
  std::vector<uint64_t> seeds(kRows);
  for (uint64_t r = 0; r < kRows; ++r) seeds[r] = r;
  ASSERT_EQ(env.Reset(0, seeds), BP_OK);
  ASSERT_EQ(exact.Reset(0, {1}), BP_OK);
  const int64_t nq = task_ == "ant" ? 15 : task_ == "half_cheetah" ? 9 : 24, nv = task_ == "half_cheetah" ? 9 : nq - 1;
  double most[2] = {0, 0};  // of normal and of uniform noise
  for (int64_t i = 0; i < nq + nv; ++i) {
    const bool uniform = i < nq || task_ == "humanoid";
    double sum = 0, squares = 0;
    for (uint64_t r = 0; r < kRows; ++r) {
      const double noise = env.Obs(r)[i] - exact.Obs()[i];
      most[uniform] = std::max(most[uniform], std::abs(noise));
      sum += noise, squares += noise * noise;
    }
    const double sd = uniform ? width : scale;
    EXPECT_NEAR(sum / kRows, 0, 5 * sd / std::sqrt(kRows)) << i;
    EXPECT_NEAR(std::sqrt(squares / kRows), sd, sd * 0.2) << i;
  }
  EXPECT_LE(most[true], 1.0001 * scale);
  EXPECT_EQ(most[false] > 2.5 * scale, task_ != "humanoid");
  for (int64_t i = nq; i < nq + nv; ++i) EXPECT_EQ(exact.Obs()[i], 0);
}

TEST_P(EveryTask, PaysTheSumOfItsTermsAndNothingForHealthAtTheEnd) {
  harness::Env env(File(task_), 1);
  const bool has_health = task_ != "half_cheetah";
  int ends = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    ASSERT_EQ(env.Reset(0, {seed}), BP_OK);
    bp_rng rng{seed, 0};
    for (int t = 0; t < 60; ++t) {
      for (int64_t i = 0; i < env.Size("action"); ++i)
        env.At<float>("action")[i] = static_cast<float>(bp_rng_range(&rng, -1, 1) * (task_ == "humanoid" ? 0.4 : 1));
      ASSERT_EQ(env.Step(), BP_OK);
      double sum = *env.At<float>("reward_forward") + *env.At<float>("reward_ctrl");
      if (has_health) sum += *env.At<float>("reward_survive") + *env.At<float>("reward_contact");
      EXPECT_NEAR(*env.At<float>("reward"), sum, 1e-5);
      if (!*env.At<uint8_t>("terminated")) continue;
      EXPECT_EQ(*env.At<float>("reward_survive"), 0);
      ++ends;
      break;
    }
  }
  EXPECT_EQ(ends > 5, has_health);
}

TEST_P(EveryTask, ResetsWithoutMemory) {
  harness::Env fresh(File(task_), 1), used(File(task_), 1);
  ASSERT_EQ(used.Reset(0, {3}), BP_OK);
  for (int t = 0; t < 30; ++t) ASSERT_EQ(used.Step(), BP_OK);
  for (harness::Env* env : {&fresh, &used}) ASSERT_EQ(env->Reset(0, {4}), BP_OK);
  for (int t = 0; t < 30; ++t) {
    EXPECT_EQ(std::memcmp(fresh.Obs(), used.Obs(), fresh.Size("obs") * sizeof(float)), 0) << t;
    for (harness::Env* env : {&fresh, &used}) ASSERT_EQ(env->Step(), BP_OK);
    EXPECT_EQ(*fresh.At<float>("reward"), *used.At<float>("reward"));
  }
}

// The layout that tests against Gymnasium write.
TEST(MuJoCo, ASnapshotBeginsWithTimePositionsAndSpeeds) {
  harness::Single<half_cheetah::HalfCheetah> single("half_cheetah");
  single.Start();
  single.Advance(0.5, 1);
  std::vector<double> state(single.row.StateBytes(single.world) / sizeof(double));
  single.row.Save(single.world, state.data());
  EXPECT_EQ(state[0], 0.05);
  for (int i = 0; i < 9; ++i) {
    EXPECT_EQ(state[1 + i], single.data().qpos[i]);
    EXPECT_EQ(state[10 + i], single.data().qvel[i]);
  }
  EXPECT_EQ(state[state.size() - 4], single.data().qpos[0]);  // the current place precedes the start's
}

}  // namespace
