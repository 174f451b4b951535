#include "quadruped_stand.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <thread>

#include "backplane/ext/render.h"
#include "mujoco_row.hpp"
#include "places.hpp"

namespace {

using nlohmann::json;
using quadruped_stand::kLegs;
using testing::HasSubstr;

const std::string kQuadruped = BACKPLANE_PLUGIN_DIR "/env_quadruped_stand.so";
constexpr float kNoAction[2 * kLegs] = {};

struct Quadruped : harness::Single<quadruped_stand::QuadrupedStand> {
  explicit Quadruped(const json& options = json::object()) : Single("quadruped_stand", options) {}

  // The initial state without noise.
  void Drop() {
    bp::Rng rng(1);
    std::vector<float> obs(ObsSize());
    row.Reset(world, rng, obs.data());
  }
};
const json kExact = {{"hip_noise", 0}, {"knee_noise", 0}};

json With(json options, const json& more) {
  options.update(more);
  return options;
}

// Sets the state by hand, as the examples for the reward define it.
struct Pose {
  double qpos[15] = {0, 0, 0.7, 1}, qvel[14] = {}, ctrl[8] = {}, last_ctrl[8] = {};
  int64_t streak = 0;

  Pose& At(double z) {
    qpos[2] = z;
    return *this;
  }
  // Rotates about x (1) or y (2).
  Pose& Turned(int axis, double angle) {
    qpos[3] = std::cos(angle / 2), qpos[3 + axis] = std::sin(angle / 2);
    return *this;
  }
  Pose& Moving() {
    const double speeds[] = {.1, .2, -.3, .1, -.2, .3};
    std::copy(std::begin(speeds), std::end(speeds), qvel);
    return *this;
  }
  Pose& Knees(double a, double b, double c, double d) {
    qpos[8] = a, qpos[10] = b, qpos[12] = c, qpos[14] = d;
    return *this;
  }
  quadruped_stand::Terms In(const json& options = json::object()) const {
    return Judge(Quadruped(options).world, {qpos, qvel, ctrl, last_ctrl, streak});
  }
};

TEST(QuadrupedStand, CompilesToTheModelOfTheFigures) {
  const Quadruped quadruped;
  const mjModel& m = quadruped.model();
  EXPECT_EQ(std::vector<int64_t>({m.nq, m.nv, m.nu, m.nbody, m.njnt, m.ngeom}), std::vector<int64_t>({15, 14, 8, 10, 9, 14}));
  EXPECT_NEAR(mj_getTotalmass(&m), 55.1327412287, 1e-9);
  EXPECT_NEAR(m.body_mass[1], 30, 1e-12);
  for (int leg = 0; leg < kLegs; ++leg) {
    EXPECT_NEAR(m.body_mass[2 + 2 * leg], 2.879793266, 1e-9) << leg;
    EXPECT_NEAR(m.body_mass[3 + 2 * leg], 3.403392041, 1e-9) << leg;
  }
  EXPECT_EQ(m.opt.integrator, mjINT_EULER);
  EXPECT_EQ(m.opt.timestep, 0.002);
  for (int i = 0; i < m.njnt; ++i) EXPECT_EQ(m.jnt_stiffness[i], 5) << i;
  for (int i = 0; i < m.nu; ++i) {
    EXPECT_EQ(m.actuator_gear[6 * i], 60);
    EXPECT_EQ(m.actuator_trnid[2 * i], i + 1) << "motors follow the joints";
  }
}

TEST(QuadrupedStand, ExampleOfAVectorEnvHasTheSameModel) {
  const mj::Model example = mj::LoadFile("example", BACKPLANE_SOURCE_DIR "/examples/vector_envs/quadruped_stand.xml");
  EXPECT_EQ(mj::Fingerprint(example.get()),
            mj::Fingerprint(mj::LoadText("quadruped_stand.xml", quadruped_stand::ModelXml()).get()));
}

// Folded completely, shins pass through thighs and torso without touching them.
TEST(QuadrupedStand, LegsTouchOnlyTheFloor) {
  Quadruped quadruped;
  const auto contacts = [&](double z) {
    quadruped.Start([&](double* qpos, double*) {
      qpos[2] = z;
      for (int leg = 0; leg < kLegs; ++leg) qpos[7 + 2 * leg] = 0.8, qpos[8 + 2 * leg] = 2;
    });
    return quadruped.data().ncon;
  };
  EXPECT_EQ(contacts(1), 0);
  EXPECT_GE(contacts(0.04), 4 + 2 * kLegs);  // the torso's corners too
}

TEST(QuadrupedStand, EarnsTheGoldenRewards) {
  Pose a = Pose().At(.46).Turned(2, -.08).Moving().Knees(1.2, 1.1, 1.3, 1.0);
  const double half[] = {.5, -.5, .25, -.25, .5, -.5, .25, -.25};
  std::copy(std::begin(half), std::end(half), a.ctrl);
  a.streak = 9;
  EXPECT_NEAR(a.In().Reward(), 3.0411086263671, 1e-12);

  Pose b = Pose().At(.40).Turned(1, .5).Moving().Knees(1.2, .6, 1.6, 2.0);
  std::fill_n(b.ctrl, 8, 1.0);
  EXPECT_NEAR(b.In().Reward(), 2.2023834657114, 1e-12);

  EXPECT_NEAR(Pose().At(.47).Knees(1.2, 1.2, 1.2, 1.2).In().Reward(), 3.8531982944249, 1e-12);
}

TEST(QuadrupedStand, PaysForBeingUprightByTheShapeChosen) {
  const auto stand = [](double up, const char* shape) {
    return Pose().At(.47).Turned(2, std::acos(up)).In({{"up_shape", shape}, {"stand_reward", 2}}).stand;
  };
  EXPECT_NEAR(stand(1, "band"), 1 + 0, 1e-9);
  EXPECT_NEAR(stand(.89, "band"), 1 + 1, 1e-9);
  EXPECT_NEAR(stand(1, "ramp"), 1 + 1, 1e-9);
  EXPECT_NEAR(stand(.89, "ramp"), 1 + 0.5, 1e-9);
  EXPECT_NEAR(stand(.75, "ramp"), 1 + 0, 1e-9);
}

// A phase sets its numbers; an explicit number overrides it.
TEST(QuadrupedStand, APhaseSetsTheNumbersThatAreNotGiven) {
  const Quadruped first, second(json{{"phase", 2}}), own(json{{"phase", 2}, {"z_lo", 0.4}, {"max_episode_steps", 70}});
  EXPECT_EQ(first.world.z_lo, 0.42);
  EXPECT_EQ(first.world.max_episode_steps, 200);
  EXPECT_EQ(second.world.z_lo, 0.45);
  EXPECT_EQ(second.world.ctrl_cost, 0.0003);
  EXPECT_EQ(second.world.pitch, -0.06);
  EXPECT_EQ(second.world.max_episode_steps, 250);
  EXPECT_EQ(own.world.z_lo, 0.4);
  EXPECT_EQ(own.world.z_hi, 0.55);
  EXPECT_EQ(own.row.Spec(own.world).max_episode_steps, 70);
}

TEST(QuadrupedStand, RejectsABandWithoutWidth) {
  const auto refused = [](const json& options) -> std::string {
    try {
      Quadruped quadruped(options);
    } catch (const bp::Error& e) {
      return e.code() == BP_E_CONFIG ? e.what() : "another kind of error";
    }
    return "no error";
  };
  EXPECT_THAT(refused({{"z_lo", 0.6}}), HasSubstr("z_lo: expected less than z_hi, got 0.6"));
  EXPECT_THAT(refused({{"knee_hi", 0.5}}), HasSubstr("knee_lo: expected less than knee_hi"));
}

TEST(QuadrupedStand, StartsCrouchedWithinItsNoise) {
  constexpr uint64_t kRows = 400;
  harness::Env env(kQuadruped, kRows, 1, {{"obs", "qpos_qvel"}, {"hip_noise", 0.03}, {"knee_noise", 0.01}});
  std::vector<uint64_t> seeds(kRows);
  for (uint64_t r = 0; r < kRows; ++r) seeds[r] = r;
  ASSERT_EQ(env.Reset(0, seeds), BP_OK);
  for (int i = 0; i < 29; ++i) {
    const bool hip = i >= 7 && i < 15 && i % 2 == 1, knee = i >= 8 && i < 15 && i % 2 == 0;
    const double mean = i == 2 ? 0.7 : i == 3 ? std::cos(.04) : i == 5 ? -std::sin(.04) : knee ? 1.6 : 0;
    const double sd = hip ? 0.03 : knee ? 0.02 : 0;
    double sum = 0, squares = 0;
    for (uint64_t r = 0; r < kRows; ++r) {
      const double noise = env.Obs(r)[i] - mean;
      sum += noise, squares += noise * noise;
    }
    EXPECT_NEAR(sum / kRows, 0, 5 * sd / std::sqrt(kRows) + 1e-7) << i;
    EXPECT_NEAR(std::sqrt(squares / kRows), sd, sd * 0.2 + 1e-7) << i;
  }
}

TEST(QuadrupedStand, ObservesJointsAndSpeedsOrTheWholeState) {
  harness::Env joints(kQuadruped, 1), all(kQuadruped, 1, 1, {{"obs", "qpos_qvel"}});
  ASSERT_EQ(joints.Size("obs"), 22);
  ASSERT_EQ(all.Size("obs"), 29);
  for (harness::Env* env : {&joints, &all}) {
    ASSERT_EQ(env->Reset(0, {3}), BP_OK);
    for (int t = 0; t < 60; ++t) ASSERT_EQ(env->Step(), BP_OK);
  }
  EXPECT_TRUE(std::equal(joints.Obs(), joints.Obs() + 22, all.Obs() + 7));
}

// Covers the fall, the contacts and the rest on folded knees.
TEST(QuadrupedStand, SettlesAsComputedWithoutActions) {
  SKIP_UNLESS_MUJOCO_4_0();
  Quadruped quadruped(kExact);
  quadruped.Drop();
  const std::map<int, double> heights = {{1, 0.699798476143}, {10, 0.684306244216}, {20, 0.637570903364},
                                         {50, 0.4057921700},  {100, 0.2678444689},  {200, 0.2619069458}};
  for (int t = 1; t <= 200; ++t) {
    quadruped.row.Advance(quadruped.world, kNoAction);
    ASSERT_FALSE(quadruped.row.memory().finished) << t;
    if (heights.count(t)) {
      EXPECT_NEAR(quadruped.data().qpos[2], heights.at(t), 1e-9) << t;
    }
  }
}

// Weights of 0.01 N under a tanh. The same task written in Python gives 110 over 30 such policies, 22 to 198 each.
TEST(QuadrupedStand, PaysAPolicyThatHardlyActsAbout110) {
  constexpr int kPolicies = 20;
  double sum = 0;
  for (uint64_t policy = 0; policy < kPolicies; ++policy) {
    harness::Env env(kQuadruped, 1);
    bp_rng rng{policy, 0};
    double weights[8][22];
    for (auto& line : weights)
      for (double& w : line) w = 0.01 * bp_rng_normal(&rng);
    ASSERT_EQ(env.Reset(0, {policy}), BP_OK);
    for (int t = 0; t < 200; ++t) {
      for (int i = 0; i < 8; ++i) {
        double u = 0;
        for (int k = 0; k < 22; ++k) u += weights[i][k] * env.Obs()[k];
        env.At<float>("action")[i] = static_cast<float>(std::tanh(u));
      }
      ASSERT_EQ(env.Step(), BP_OK);
      sum += *env.At<float>("reward");
    }
  }
  EXPECT_NEAR(sum / kPolicies, 110, 20);
}

TEST(QuadrupedStand, AMotorGetsTheTanhOfItsAction) {
  Quadruped quadruped;
  quadruped.Drop();
  const float action[] = {1, -1, 0.5, 0, 2, 0, 0, 0};
  quadruped.row.Advance(quadruped.world, action);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(quadruped.data().ctrl[i], std::tanh(static_cast<double>(action[i]))) << i;
  EXPECT_NEAR(quadruped.data().time, 3 * 0.002, 1e-12);
}

// A hand-made policy drives each joint to a pose with the feet under the hips at 0.47 m.
double Push(double angle, double speed, double target) { return std::tanh(5 * (target - angle) - 0.2 * speed); }

TEST(QuadrupedStand, CanStandByItsJointsOnly) {
  harness::Env env(kQuadruped, 1);
  ASSERT_EQ(env.Reset(0, {1}), BP_OK);
  int standing = 0;
  double sum = 0;
  for (int t = 0; t < 200; ++t) {
    for (int i = 0; i < 8; ++i)
      env.At<float>("action")[i] = static_cast<float>(Push(env.Obs()[i], env.Obs()[14 + i], i % 2 ? 1.4 : -0.7));
    ASSERT_EQ(env.Step(), BP_OK);
    ASSERT_FALSE(*env.At<uint8_t>("terminated"));
    standing += *env.At<float>("gate") > 0.6f;
    sum += *env.At<float>("height");
  }
  EXPECT_GT(standing, 100);
  EXPECT_FLOAT_EQ(*env.At<float>("ep/standing_fraction"), static_cast<float>(standing / 200.0));
  EXPECT_NEAR(*env.At<float>("ep/mean_height"), sum / 200, 1e-5);
}

TEST(QuadrupedStand, CountsAStreakThatEndsWithTheStanding) {
  Quadruped quadruped(With(kExact, {{"streak_reward", 1}, {"streak_scale", 4}}));
  quadruped.Drop();
  int64_t streak = 0, longest = 0;
  for (int t = 0; t < 200; ++t) {
    const auto terms = quadruped.row.Advance(quadruped.world, kNoAction);  // falls through the standing heights
    streak = Gate(quadruped.world, quadruped.data().qpos) > 0.6 ? streak + 1 : 0;
    longest = std::max(longest, streak);
    EXPECT_NEAR(terms.streak, std::tanh(static_cast<double>(streak) / 4), 1e-12);
  }
  EXPECT_GT(longest, 2);
  EXPECT_EQ(quadruped.row.memory().standing, longest);
  EXPECT_EQ(streak, 0);
}

TEST(QuadrupedStand, PaysTheSumOfItsTerms) {
  harness::Env env(kQuadruped, 1);
  ASSERT_EQ(env.Reset(0, {9}), BP_OK);
  bp_rng rng{4, 0};
  for (int t = 0; t < 100; ++t) {
    for (int i = 0; i < 8; ++i) env.At<float>("action")[i] = static_cast<float>(bp_rng_range(&rng, -1, 1));
    ASSERT_EQ(env.Step(), BP_OK);
    double sum = 0;
    for (const char* term : {"reward_alive", "reward_stand", "reward_streak", "reward_knees", "reward_costs"})
      sum += *env.At<float>(term);
    EXPECT_NEAR(*env.At<float>("reward"), sum, 1e-5);
  }
}

TEST(QuadrupedStand, AFinishedEpisodeNeitherMovesNorPays) {
  harness::Env env(kQuadruped, 1, 1, {{"z_min", 0.3}});  // above its resting height
  ASSERT_EQ(env.Reset(0, {1}), BP_OK);
  int t = 0;
  for (; t < 200 && !*env.At<uint8_t>("terminated"); ++t) ASSERT_EQ(env.Step(), BP_OK);
  ASSERT_LT(t, 150);
  EXPECT_LT(*env.At<float>("height"), 0.3);
  EXPECT_EQ(*env.At<float>("reward"), 0);
  const float height = *env.At<float>("height");
  ASSERT_EQ(env.Step(), BP_OK);
  EXPECT_EQ(*env.At<uint8_t>("terminated"), 1);
  EXPECT_EQ(*env.At<float>("reward"), 0);
  EXPECT_EQ(*env.At<float>("height"), height);
}

TEST(QuadrupedStand, FallsBelowTheLeastHeightOrOnItsSide) {
  const auto falls = [](const json& options, double up) {
    Quadruped quadruped(options);
    quadruped.Start(
        [&](double* qpos, double*) { qpos[3] = std::cos(std::acos(up) / 2), qpos[4] = std::sin(std::acos(up) / 2); });
    quadruped.row.Advance(quadruped.world, kNoAction);
    return quadruped.row.memory().finished != 0;
  };
  EXPECT_FALSE(falls(json::object(), 0.16));
  EXPECT_TRUE(falls(json::object(), 0.14));
  EXPECT_FALSE(falls({{"z_min", 0.6997}}, 1));  // 0.7 m, minus the fall in one step
  EXPECT_TRUE(falls({{"z_min", 0.6999}}, 1));
}

TEST(QuadrupedStand, NamesAnActionThatIsNotANumber) {
  harness::Env env(kQuadruped, 2);
  ASSERT_EQ(env.Reset(0, {1, 2}), BP_OK);
  env.At<float>("action", 1)[3] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(env.Step(), BP_E_NUMERIC);
  EXPECT_THAT(env.error(), HasSubstr("row 1: ctrl[3]"));
}

// Rows of a batch that three threads share equal rows of single-row envs.
TEST(QuadrupedStand, ARowDoesNotDependOnItsBatchOrThreads) {
  constexpr uint64_t kRows = 6;
  std::vector<uint64_t> seeds = {5, 6, 7, 8, 9, 10};
  harness::Env batch(kQuadruped, kRows);
  ASSERT_EQ(batch.Reset(0, seeds), BP_OK);
  std::vector<std::unique_ptr<harness::Env>> singles;
  for (const uint64_t seed : seeds)
    ASSERT_EQ(singles.emplace_back(std::make_unique<harness::Env>(kQuadruped, 1))->Reset(0, {seed}), BP_OK);
  for (int t = 0; t < 150; ++t) {
    for (uint64_t r = 0; r < kRows; ++r)
      for (int i = 0; i < 8; ++i)
        batch.At<float>("action", r)[i] = singles[r]->At<float>("action")[i] =
            static_cast<float>(std::sin(0.3 * t + 2.0 * r + i));
    std::vector<std::thread> threads;
    for (uint64_t begin = 0; begin < kRows; begin += 2)
      threads.emplace_back([&, begin] { EXPECT_EQ(batch.api().step(batch.get(), 0, begin, begin + 2), BP_OK); });
    for (std::thread& thread : threads) thread.join();
    for (uint64_t r = 0; r < kRows; ++r) {
      ASSERT_EQ(singles[r]->Step(), BP_OK);
      ASSERT_TRUE(std::equal(batch.Obs(r), batch.Obs(r) + 22, singles[r]->Obs())) << t << " " << r;
      ASSERT_EQ(*batch.At<float>("reward", r), *singles[r]->At<float>("reward"));
    }
  }
}

TEST(QuadrupedStand, HandsItsPicturesOver) {
  harness::Env env(kQuadruped, 1, 1, {{"phase", 2}});
  const auto* render = static_cast<const bp_env_render_1*>(env.api().get_extension(env.get(), BP_ENV_RENDER_1));
  ASSERT_NE(render, nullptr);
  EXPECT_EQ(render->format, BP_RENDER_SVG);
  ASSERT_EQ(env.Reset(0, {1}), BP_OK);
  for (int t = 0; t < 33; ++t) ASSERT_EQ(env.Step(), BP_OK);
  std::string picture;
  const bp_writer writer{sizeof(bp_writer), 0, &picture, [](const bp_writer* w, const void* data, uint64_t n) -> bp_status {
                           static_cast<std::string*>(w->impl)->append(static_cast<const char*>(data), n);
                           return BP_OK;
                         }};
  ASSERT_EQ(render->frame(env.get(), 0, &writer), BP_OK);
  char expected[80];
  std::snprintf(expected, sizeof expected, "height %.3f m", *env.At<float>("height"));
  EXPECT_THAT(picture, HasSubstr(expected));
}

}  // namespace
