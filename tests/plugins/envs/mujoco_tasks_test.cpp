// Hopper, HumanoidStandup, both inverted pendulums, Pusher, Reacher, Swimmer and Walker2d of Gymnasium: figures of their
// models, rewards of Gymnasium 1.4.0 on MuJoCo 4.0.1, resets, and models that they reject.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "hopper.hpp"
#include "humanoid_standup.hpp"
#include "inverted_double_pendulum.hpp"
#include "inverted_pendulum.hpp"
#include "mujoco_row.hpp"
#include "pusher.hpp"
#include "reacher.hpp"
#include "swimmer.hpp"
#include "walker2d.hpp"

namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

std::string FileOfTask(const std::string& task) { return BACKPLANE_PLUGIN_DIR "/env_" + task + ".so"; }

// Without noise, actions A sin(0.3 (t - 1) + i) in float32: the first and the fifth reward, and the sum of ten.
struct Figures {
  const char* task;
  std::vector<int64_t> sizes;  // nq, nv, nu, nbody, njnt, ngeom, ntendon
  double mass, dt;             // kg, s
  int64_t obs;
  double amplitude, first, fifth, ten;
};

template <class Row>
void ExpectFigures(const Figures& figures) {
  harness::Single<Row> single(figures.task);
  const mjModel& m = single.model();
  EXPECT_EQ(std::vector<int64_t>({m.nq, m.nv, m.nu, m.nbody, m.njnt, m.ngeom, m.ntendon}), figures.sizes) << figures.task;
  EXPECT_NEAR(mj_getTotalmass(&m), figures.mass, 1e-12 * figures.mass) << figures.task;
  EXPECT_DOUBLE_EQ(single.world.dt(), figures.dt) << figures.task;
  EXPECT_EQ(single.ObsSize(), figures.obs) << figures.task;
  SKIP_UNLESS_MUJOCO_4_0();
  single.Start();
  double sum = 0;
  for (int t = 1; t <= 10; ++t) {
    const double reward = single.Advance(figures.amplitude, t);
    if (t == 1) {
      EXPECT_NEAR(reward, figures.first, 1e-11) << figures.task;
    }
    if (t == 5) {
      EXPECT_NEAR(reward, figures.fifth, 1e-9 * std::max(1.0, figures.mass)) << figures.task;
    }
    sum += reward;
  }
  EXPECT_NEAR(sum, figures.ten, 1e-8 * std::max(1.0, std::abs(figures.ten))) << figures.task;
}

TEST(MuJoCoTasks, HaveTheModelsAndRewardsOfGymnasium) {
  ExpectFigures<hopper::Hopper>(
      {"hopper", {6, 6, 3, 5, 6, 5, 0}, 15.820013405927003, 0.008, 11, 0.5, 1.011587922361, 1.037120564207, 10.1683312823});
  ExpectFigures<walker2d::Walker2d>(
      {"walker2d", {9, 9, 6, 8, 9, 8, 0}, 23.677136632555076, 0.008, 17, 0.5, 0.978397494513, 0.611278338614, 6.4145996083});
  ExpectFigures<swimmer::Swimmer>(
      {"swimmer", {5, 5, 2, 4, 5, 4, 0}, 106.81415022205297, 0.04, 8, 0.5, -0.000585931982, -0.078796876207, 0.2768796159});
  ExpectFigures<reacher::Reacher>(
      {"reacher", {4, 4, 2, 5, 4, 10, 0}, 0.07845185174544432, 0.02, 10, 0.5, -0.326909212419, -0.580024868744, -4.7175160691});
  ExpectFigures<pusher::Pusher>(
      {"pusher", {11, 11, 7, 13, 11, 20, 0}, 13.673004480969936, 0.05, 23, 1, -0.719394981131, -0.776916089371, -7.6128014674});
  ExpectFigures<inverted_pendulum::InvertedPendulum>(
      {"inverted_pendulum", {2, 2, 1, 3, 2, 3, 0}, 15.490567153329286, 0.04, 4, 0.1, 1, 1, 10});
  ExpectFigures<inverted_double_pendulum::InvertedDoublePendulum>({"inverted_double_pendulum",
                                                                   {3, 3, 1, 4, 3, 5, 0},
                                                                   18.869452675011495,
                                                                   0.05,
                                                                   9,
                                                                   0.1,
                                                                   9.36,
                                                                   9.332520374494,
                                                                   81.9514368959});
  ExpectFigures<humanoid_standup::HumanoidStandup>({"humanoid_standup",
                                                    {24, 23, 17, 14, 18, 18, 2},
                                                    42.11603049212989,
                                                    0.015,
                                                    348,
                                                    0.2,
                                                    37.436702512649,
                                                    43.527204849225,
                                                    414.7218365512});
}

// Noise of a reset: the first `qpos` numbers and all speeds but the last `still`.
struct Noise {
  const char* task;
  json options;
  int64_t nq, nv, still;
  double of_positions, of_speeds;  // half the width; spread of a normal one
  bool normal_speeds;
};
void PrintTo(const Noise& noise, std::ostream* out) { *out << noise.task; }
const Noise kNoises[] = {
    {"hopper", {{"reset_noise_scale", 0.05}}, 6, 6, 0, 0.05, 0.05, false},
    {"humanoid_standup", {{"reset_noise_scale", 0.05}}, 24, 23, 0, 0.05, 0.05, false},
    {"inverted_double_pendulum", {{"reset_noise_scale", 0.05}}, 3, 3, 0, 0.05, 0.05, true},
    {"inverted_pendulum", {{"reset_noise_scale", 0.05}}, 2, 2, 0, 0.05, 0.05, false},
    {"pusher", json::object(), 11, 11, 4, 0, 0.005, false},
    {"reacher", json::object(), 4, 4, 2, 0.1, 0.005, false},
    {"swimmer", {{"reset_noise_scale", 0.05}}, 5, 5, 0, 0.05, 0.05, false},
    {"walker2d", {{"reset_noise_scale", 0.05}}, 9, 9, 0, 0.05, 0.05, false},
};

class TaskNoise : public testing::TestWithParam<Noise> {};
INSTANTIATE_TEST_SUITE_P(MuJoCo, TaskNoise, testing::ValuesIn(kNoises),
                         [](const auto& tested) { return std::string(tested.param.task); });

// qpos and qvel behind the layer's key, the random stream and the time.
std::vector<double> StateOfRow(const harness::Env& env, uint64_t row, int64_t n) {
  std::vector<char> bytes(env.snapshot()->row_bytes(env.get()));
  EXPECT_EQ(env.snapshot()->get(env.get(), row, bytes.data()), BP_OK);
  std::vector<double> state(static_cast<size_t>(n));
  std::memcpy(state.data(), bytes.data() + sizeof(uint64_t) + sizeof(bp_rng) + sizeof(double), state.size() * sizeof(double));
  return state;
}

TEST_P(TaskNoise, HasTheSpreadOfTheOptions) {
  constexpr uint64_t kRows = 400;
  const Noise& task = GetParam();
  harness::Env env(FileOfTask(task.task), kRows, 1, task.options);
  std::vector<uint64_t> seeds(kRows);
  for (uint64_t r = 0; r < kRows; ++r) seeds[r] = r;
  ASSERT_EQ(env.Reset(0, seeds), BP_OK);
  std::vector<std::vector<double>> states;
  for (uint64_t r = 0; r < kRows; ++r) states.push_back(StateOfRow(env, r, task.nq + task.nv));
  const auto expect_spread = [&](int64_t i, double width, bool normal) {
    double sum = 0, squares = 0;
    for (const auto& state : states) sum += state[i], squares += state[i] * state[i];
    const double mean = sum / kRows, sd = std::sqrt(std::max(0.0, squares / kRows - mean * mean));
    const double wanted = normal ? width : width / std::sqrt(3.0);
    EXPECT_NEAR(sd, wanted, 0.2 * wanted + 1e-9) << i;
  };
  for (int64_t i = 0; i < task.nq - task.still; ++i) expect_spread(i, task.of_positions, false);
  for (int64_t i = 0; i < task.nv; ++i)
    expect_spread(task.nq + i, i < task.nv - task.still ? task.of_speeds : 0, task.normal_speeds);
}

TEST(MuJoCoTasks, PlaceTheThingsOfAnArmWhereTheyBelong) {
  constexpr uint64_t kRows = 400;
  harness::Env reacher(FileOfTask("reacher"), kRows), pusher(FileOfTask("pusher"), kRows);
  std::vector<uint64_t> seeds(kRows);
  for (uint64_t r = 0; r < kRows; ++r) seeds[r] = r;
  ASSERT_EQ(reacher.Reset(0, seeds), BP_OK);
  ASSERT_EQ(pusher.Reset(0, seeds), BP_OK);
  double farthest = 0;
  for (uint64_t r = 0; r < kRows; ++r) {
    const std::vector<double> target = StateOfRow(reacher, r, 4), things = StateOfRow(pusher, r, 11);
    farthest = std::max(farthest, std::hypot(target[2], target[3]));
    EXPECT_GT(std::hypot(things[7], things[8]), 0.17);
    EXPECT_LE(things[7], 0);
    EXPECT_GE(things[7], -0.3);
    EXPECT_LE(std::abs(things[8]), 0.2);
    EXPECT_EQ(std::hypot(things[9], things[10]), 0);
  }
  EXPECT_LT(farthest, 0.2);
  EXPECT_GT(farthest, 0.19);
}

// The rewards of random episodes add up, and the term for health is 0 at the end.
void ExpectTerms(const char* task, const std::vector<const char*>& terms, double constant, bool ends) {
  harness::Env env(FileOfTask(task), 1);
  int ended = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    ASSERT_EQ(env.Reset(0, {seed}), BP_OK);
    bp_rng rng{seed, 0};
    for (int t = 0; t < 60 && (t == 0 || !*env.At<uint8_t>("terminated")); ++t) {
      for (int64_t i = 0; i < env.Size("action"); ++i)
        env.At<float>("action")[i] = static_cast<float>(bp_rng_range(&rng, -1, 1));
      ASSERT_EQ(env.Step(), BP_OK);
      double sum = constant;
      for (const char* term : terms) sum += *env.At<float>(term);
      EXPECT_NEAR(*env.At<float>("reward"), sum, 1e-5 * std::max(1.0, std::abs(sum))) << task;
      if (!*env.At<uint8_t>("terminated")) continue;
      EXPECT_EQ(*env.At<float>("reward_survive"), 0) << task;
      ++ended;
    }
  }
  EXPECT_EQ(ended > 5, ends) << task;
}

TEST(MuJoCoTasks, PayTheSumOfTheirTerms) {
  ExpectTerms("hopper", {"reward_forward", "reward_ctrl", "reward_survive"}, 0, true);
  ExpectTerms("walker2d", {"reward_forward", "reward_ctrl", "reward_survive"}, 0, true);
  ExpectTerms("swimmer", {"reward_forward", "reward_ctrl"}, 0, false);
  ExpectTerms("reacher", {"reward_dist", "reward_ctrl"}, 0, false);
  ExpectTerms("pusher", {"reward_dist", "reward_ctrl", "reward_near"}, 0, false);
  ExpectTerms("inverted_pendulum", {"reward_survive"}, 0, true);
  ExpectTerms("inverted_double_pendulum", {"reward_survive", "distance_penalty", "velocity_penalty"}, 0, true);
  ExpectTerms("humanoid_standup", {"reward_linup", "reward_quadctrl", "reward_impact"}, 1, false);
}

template <class Row>
std::string Rejection(const char* task, const json& options) {
  try {
    harness::Single<Row> row(task, options);
  } catch (const bp::Error& e) {
    return e.code() == BP_E_CONFIG ? e.what() : "another code";
  }
  return "no error";
}

TEST(MuJoCoTasks, RejectModelsWithoutPartsOfTheFormulas) {
  const std::string path = testing::TempDir() + "mujoco_tasks_test_cart.xml";
  const auto with = [&](const std::string& joint) {
    std::ofstream(path) << "<mujoco><worldbody><body pos='0 0 1'><joint name='j' type='" << joint
                        << "'/><geom size='0.1'/></body></worldbody><actuator><motor joint='j' ctrlrange='-1 1' "
                           "ctrllimited='true'/></actuator></mujoco>";
    return json{{"xml_path", path}};
  };
  EXPECT_THAT(Rejection<hopper::Hopper>("hopper", with("slide")), HasSubstr("joints along x and z and about y first, got 1 "));
  EXPECT_THAT(Rejection<walker2d::Walker2d>("walker2d", with("hinge")), HasSubstr("a slide joint first, got a hinge"));
  EXPECT_THAT(Rejection<swimmer::Swimmer>("swimmer", with("slide")), HasSubstr("joints along x and y first, got 1 position"));
  EXPECT_THAT(Rejection<inverted_pendulum::InvertedPendulum>("inverted_pendulum", with("slide")),
              HasSubstr("a slide and then a hinge, got 1 position"));
  EXPECT_THAT(Rejection<inverted_double_pendulum::InvertedDoublePendulum>("inverted_double_pendulum", with("slide")),
              HasSubstr("a slide and then two hinges, got 1 "));
  EXPECT_THAT(Rejection<humanoid_standup::HumanoidStandup>("humanoid_standup", with("slide")),
              HasSubstr("a free joint first, got a slide"));
  std::filesystem::remove(path);
  // A built-in model in which `old` is replaced.
  const auto changed = [&](std::string xml, const std::string& old, const std::string& replacement) {
    xml.replace(xml.find(old), old.size(), replacement);
    std::ofstream(path) << xml;
    return json{{"xml_path", path}};
  };
  EXPECT_THAT(
      Rejection<reacher::Reacher>("reacher", changed(reacher::kModelXml, "<body name='fingertip'", "<body name='finger'")),
      AllOf(HasSubstr("xml_path"), HasSubstr("has no body 'fingertip'; bodies: 0 world, 1 body0")));
  EXPECT_THAT(
      Rejection<reacher::Reacher>(
          "reacher", changed(reacher::kModelXml, "<joint name='target_y' class='target' axis='0 1 0' ref='-0.1'/>", "")),
      HasSubstr("two slides of the target last, got 3 positions"));
  EXPECT_THAT(
      Rejection<pusher::Pusher>("pusher", changed(pusher::kModelXml, "<joint name='goal_x' class='slide' axis='1 0 0'/>", "")),
      HasSubstr("two slides of the object and of the goal, got 10 positions"));
  const std::string tip = "<site name='tip' pos='0 0 0.6' size='0.01 0.01'/>";
  EXPECT_THAT(Rejection<inverted_double_pendulum::InvertedDoublePendulum>(
                  "inverted_double_pendulum", changed(inverted_double_pendulum::kModelXml, tip, "")),
              HasSubstr("a site at the tip, got none"));
  std::filesystem::remove(path);
}

TEST(MuJoCoTasks, RejectContradictoryOptions) {
  EXPECT_THAT(Rejection<hopper::Hopper>("hopper", {{"healthy_state_min", 200}}),
              HasSubstr("healthy_state_min: expected at most healthy_state_max"));
  EXPECT_THAT(Rejection<hopper::Hopper>("hopper", {{"healthy_angle_min", 1}}),
              HasSubstr("healthy_angle_min: expected at most healthy_angle_max"));
  EXPECT_THAT(Rejection<walker2d::Walker2d>("walker2d", {{"healthy_z_min", 3}}),
              HasSubstr("healthy_z_min: expected at most healthy_z_max"));
  EXPECT_THAT(Rejection<humanoid_standup::HumanoidStandup>("humanoid_standup", {{"impact_cost_min", 11}}),
              HasSubstr("impact_cost_min: expected at most impact_cost_max"));
}

// Each number of an observation has a name; a sine has no unit.
TEST(MuJoCoTasks, NameTheirObservations) {
  const auto labels = [](auto* row, const char* task) {
    using Row = std::remove_pointer_t<decltype(row)>;
    harness::Single<Row> single(task);
    std::vector<std::string> texts;
    for (const bp::Label& label : Row::Labels(single.world, "obs")) texts.push_back(label.name + ", " + label.unit);
    return texts;
  };
  EXPECT_THAT(
      labels(static_cast<reacher::Reacher*>(nullptr), "reacher"),
      testing::ElementsAre("cosine of the angle of joint0, ", "cosine of the angle of joint1, ",
                           "sine of the angle of joint0, ", "sine of the angle of joint1, ", "position of target_x, m",
                           "position of target_y, m", "angular velocity of joint0, rad/s", "angular velocity of joint1, rad/s",
                           "x of the tip minus the target, m", "y of the tip minus the target, m"));
  const auto double_pendulum =
      labels(static_cast<inverted_double_pendulum::InvertedDoublePendulum*>(nullptr), "inverted_double_pendulum");
  ASSERT_EQ(double_pendulum.size(), 9u);
  EXPECT_EQ(double_pendulum[8], "constraint force on slider, N");
  const auto pusher = labels(static_cast<pusher::Pusher*>(nullptr), "pusher");
  ASSERT_EQ(pusher.size(), 23u);
  EXPECT_EQ(pusher[14], "position x of tips_arm, m");
}

}  // namespace
