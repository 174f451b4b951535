#include "ant.hpp"

#include "mujoco_row.hpp"

namespace {

using nlohmann::json;

struct Ant : harness::Single<ant::Ant> {
  explicit Ant(const json& options = json::object()) : Single("ant", options) {}
};

TEST(Ant, CompilesToTheModelOfTheTable) {
  const Ant ant;
  const mjModel& m = ant.model();
  EXPECT_EQ(std::vector<int64_t>({m.nq, m.nv, m.nu, m.nbody, m.njnt, m.ngeom, m.ntendon}),
            std::vector<int64_t>({15, 14, 8, 14, 9, 14, 0}));
  EXPECT_NEAR(mj_getTotalmass(&m), 0.91088008270739, 1e-14);
  EXPECT_EQ(m.opt.integrator, mjINT_RK4);
  EXPECT_EQ(m.opt.solver, mjSOL_NEWTON);
  EXPECT_EQ(m.opt.iterations, 100);
  EXPECT_EQ(m.opt.timestep, 0.01);
  EXPECT_EQ(ant.world.dt(), 0.05);
  for (int i = 0; i < m.nu; ++i) {
    EXPECT_EQ(m.actuator_gear[6 * i], 150);
    EXPECT_EQ(m.actuator_ctrlrange[2 * i], -1);
    EXPECT_EQ(m.actuator_ctrlrange[2 * i + 1], 1);
  }
  EXPECT_EQ(ant.ObsSize(), 105);
}

TEST(Ant, NamesTheNumbersOfItsChannels) {
  const Ant ant;
  const std::vector<bp::Label> obs = ant::Ant::Labels(ant.world, "obs"), action = ant::Ant::Labels(ant.world, "action");
  const auto text = [](const bp::Label& label) { return label.name + ", " + label.unit; };
  ASSERT_EQ(obs.size(), 105u);
  EXPECT_EQ(text(obs[0]), "position z of root, m");
  EXPECT_EQ(text(obs[1]), "quaternion w of root, ");
  EXPECT_EQ(text(obs[5]), "angle of hip_1, rad");
  EXPECT_EQ(text(obs[13]), "velocity x of root, m/s");
  EXPECT_EQ(text(obs[16]), "angular velocity x of root, rad/s");
  EXPECT_EQ(text(obs[26]), "angular velocity of ankle_4, rad/s");
  EXPECT_EQ(text(obs[27]).substr(0, 17), "contact torque x ");
  EXPECT_EQ(text(obs[104]).substr(0, 16), "contact force z ");
  ASSERT_EQ(action.size(), 8u);
  EXPECT_EQ(text(action[0]), "torque on hip_4, 150 N m");
  EXPECT_TRUE(ant::Ant::Labels(ant.world, "reward").empty());
}

TEST(Ant, StartsAsTheFiguresSay) {
  Ant ant;
  ant.Start();
  EXPECT_EQ(ant.data().nefc, 4);
  EXPECT_EQ(ant.data().ncon, 0);
  EXPECT_NEAR(ant.data().subtree_com[2], 0.75, 1e-12);
  EXPECT_NEAR(harness::SumOfSizes(ant.data().cinert, 140), 1.98915040923, 1e-10);
  EXPECT_EQ(harness::SumOfSizes(ant.data().cfrc_ext, 84), 0);
}

TEST(Ant, EarnsTheGoldenRewards) {
  Ant ant;
  ant.Start();
  EXPECT_NEAR(ant.Advance(0.5, 1), 0.582715728294, 1e-8 * 0.58);
  EXPECT_NEAR(ant.Advance(0.5, 2), 0.568433474858, 3e-7);  // the expected value sums the control cost in float64
  EXPECT_NEAR(ant.data().qpos[2], 0.768254806164, 1e-8);
}

TEST(Ant, EarnsTheReturnOfItsMuJoCoVersion) {
  SKIP_UNLESS_MUJOCO_4_0();
  Ant ant;
  ant.Start();
  EXPECT_NEAR(ant.Return(0.5, 100), 61.4895896, 3e-5);  // the expected value sums the control cost in float64
  EXPECT_NEAR(ant.data().qpos[2], .607782162, 1e-8);
}

// Contact-free flight: the same on every MuJoCo version.
TEST(Ant, FliesAsTheFiguresSay) {
  Ant ant;
  ant.Start([](double* qpos, double*) {
    qpos[2] = 5;
    const double signs[] = {1, -1, -1, 1};
    for (int leg = 0; leg < 4; ++leg) qpos[7 + 2 * leg] = 0, qpos[8 + 2 * leg] = 0.9 * signs[leg];
  });
  ant.Return(0.1, 2);
  EXPECT_NEAR(ant.data().qpos[2], 4.951950211804, 1e-8 * 5);
  EXPECT_NEAR(harness::SumOfSizes(ant.data().qvel, 14), 7.511324451002, 1e-8 * 7.5);
}

TEST(Ant, OptionsRemoveObservations) {
  EXPECT_EQ(Ant(json{{"include_cfrc_ext_in_observation", false}}).ObsSize(), 27);
  EXPECT_EQ(Ant(json{{"exclude_current_positions_from_observation", false}}).ObsSize(), 107);
}

TEST(Ant, IsHealthyAtBothEndsOfTheRange) {
  for (const double z : {0.6, 0.9}) {
    const double edge = std::nextafter(z, 0.75);  // a bound just inside leaves z out
    for (const bool outside : {false, true}) {
      Ant ant(json{{"healthy_z_min", outside && z < 0.75 ? edge : 0.6}, {"healthy_z_max", outside && z > 0.75 ? edge : 0.9}});
      ant.Start([&](double* qpos, double*) { qpos[2] = z; });
      const float action[8] = {};
      const auto terms = ant.row.Judge(ant.world, action);
      EXPECT_EQ(terms.terminated, outside) << z;
      EXPECT_EQ(terms.survive, outside ? 0 : 1) << z;
    }
  }
}

// Gymnasium ends such an episode; MuJoCo itself would only notice at the next step.
TEST(Ant, IsNotHealthyWhenANumberIsNotFinite) {
  Ant ant;
  ant.Start([](double*, double* qvel) { qvel[13] = std::numeric_limits<double>::infinity(); });
  const float action[8] = {};
  EXPECT_TRUE(ant.row.Judge(ant.world, action).terminated);
}

TEST(Ant, TakesItsMainBodyByNameOrNumber) {
  EXPECT_EQ(Ant(json{{"main_body", "torso"}}).world.main_body_id, 1);
  EXPECT_EQ(Ant(json{{"main_body", "aux_1"}}).world.main_body_id, 3);
  EXPECT_EQ(Ant(json{{"main_body", "13"}}).world.main_body_id, 13);
  for (const char* wrong : {"14", "-1", "1x", "", "nose"}) EXPECT_THROW(Ant(json{{"main_body", wrong}}), bp::Error) << wrong;
}

}  // namespace
