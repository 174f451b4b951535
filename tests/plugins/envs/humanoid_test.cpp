#include "humanoid.hpp"

#include "mujoco_row.hpp"

namespace {

using nlohmann::json;

struct Humanoid : harness::Single<humanoid::Humanoid> {
  explicit Humanoid(const json& options = json::object()) : Single("humanoid", options) {}
};

TEST(Humanoid, CompilesToTheModelOfTheTable) {
  const Humanoid humanoid;
  const mjModel& m = humanoid.model();
  EXPECT_EQ(std::vector<int64_t>({m.nq, m.nv, m.nu, m.nbody, m.njnt, m.ngeom, m.ntendon}),
            std::vector<int64_t>({24, 23, 17, 14, 18, 18, 2}));
  EXPECT_NEAR(mj_getTotalmass(&m), 42.1160304921299, 1e-12);
  EXPECT_EQ(m.opt.integrator, mjINT_RK4);
  EXPECT_EQ(m.opt.solver, mjSOL_PGS);
  EXPECT_EQ(m.opt.iterations, 50);
  EXPECT_EQ(m.opt.timestep, 0.003);
  EXPECT_EQ(humanoid.world.dt(), 0.015);
  const double gears[] = {100, 100, 100, 100, 100, 300, 200, 100, 100, 300, 200, 25, 25, 25, 25, 25, 25};
  for (int i = 0; i < m.nu; ++i) {
    EXPECT_EQ(m.actuator_gear[6 * i], gears[i]) << i;
    EXPECT_EQ(m.actuator_ctrlrange[2 * i], -0.4);
    EXPECT_EQ(m.actuator_ctrlrange[2 * i + 1], 0.4);
  }
  EXPECT_EQ(humanoid.ObsSize(), 348);
}

TEST(Humanoid, StartsAsTheFiguresSay) {
  Humanoid humanoid;
  humanoid.Start();
  EXPECT_EQ(humanoid.data().nefc, 2);
  EXPECT_NEAR(humanoid.data().subtree_com[0], 0.0149565103743, 1e-12);
  EXPECT_NEAR(humanoid.data().subtree_com[1], 0, 1e-12);
  EXPECT_NEAR(humanoid.data().subtree_com[2], 0.945682508406, 1e-12);
  EXPECT_NEAR(harness::SumOfSizes(humanoid.data().cinert, 140), 81.7497941464, 1e-9);
  EXPECT_EQ(harness::SumOfSizes(humanoid.data().cfrc_ext, 84), 0);
}

TEST(Humanoid, EarnsTheGoldenRewardsOnEveryVersion) {
  Humanoid humanoid;
  humanoid.Start();
  EXPECT_NEAR(humanoid.Advance(0.2, 1), 4.968194287910, 2e-6 * 5);
  EXPECT_NEAR(humanoid.Advance(0.2, 2), 4.967439492675, 2e-6 * 5);
  for (int t = 3; t < 5; ++t) humanoid.Advance(0.2, t);
  EXPECT_NEAR(humanoid.Advance(0.2, 5), 4.963930970970, 2e-6 * 5);
  EXPECT_NEAR(humanoid.data().qpos[2], 1.364496860905, 2e-6 * 1.4);
}

TEST(Humanoid, EarnsTheRewardsOfItsMuJoCoVersion) {
  SKIP_UNLESS_MUJOCO_4_0();
  Humanoid humanoid;
  humanoid.Start();
  double sum = 0;
  for (int t = 1; t <= 100; ++t) {
    const double reward = humanoid.Advance(0.2, t);
    if (t == 1) {
      EXPECT_NEAR(reward, 4.968194325783, 1e-11);
    }
    if (t == 2) {
      EXPECT_NEAR(reward, 4.967440024817, 1e-11);
    }
    if (t == 5) {
      EXPECT_NEAR(reward, 4.963936574391, 1e-11);
    }
    sum += reward;
  }
  EXPECT_NEAR(sum, 78.3927379, 1e-6);
  EXPECT_NEAR(humanoid.data().qpos[2], .082485612, 1e-8);
}

// Contact-free flight: equal on all MuJoCo versions with the same treatment of ball joints.
TEST(Humanoid, FliesAsTheFiguresSay) {
  Humanoid humanoid;
  humanoid.Start([&](double* qpos, double*) {
    harness::AtMidRange(humanoid.model(), qpos);
    qpos[2] = 5;
  });
  humanoid.Return(0.05, 20);
  EXPECT_NEAR(humanoid.data().qpos[2], 4.574760205637, 2e-6 * 5);
  EXPECT_NEAR(harness::SumOfSizes(humanoid.data().qpos, 24), 10.816104847780, 2e-6 * 11);
  EXPECT_NEAR(harness::SumOfSizes(humanoid.data().qvel, 23), 23.589567639626, 2e-6 * 24);
}

TEST(Humanoid, OptionsRemoveObservations) {
  EXPECT_EQ(Humanoid(json{{"exclude_current_positions_from_observation", false}}).ObsSize(), 350);
  EXPECT_EQ(Humanoid(json{{"include_cinert_in_observation", false}}).ObsSize(), 348 - 130);
  EXPECT_EQ(Humanoid(json{{"include_cvel_in_observation", false}}).ObsSize(), 348 - 78);
  EXPECT_EQ(Humanoid(json{{"include_qfrc_actuator_in_observation", false}}).ObsSize(), 348 - 17);
  EXPECT_EQ(Humanoid(json{{"include_cfrc_ext_in_observation", false}}).ObsSize(), 348 - 78);
}

TEST(Humanoid, IsNotHealthyAtEitherEndOfTheRange) {
  for (const double z : {1.1, 1.3}) {
    const double edge = z < 1.2 ? std::nextafter(z, 0) : std::nextafter(z, 2);  // a bound just outside lets z in
    for (const bool inside : {false, true}) {
      Humanoid humanoid(
          json{{"healthy_z_min", inside && z < 1.2 ? edge : 1.1}, {"healthy_z_max", inside && z > 1.2 ? edge : 1.3}});
      humanoid.Start([&](double* qpos, double*) { qpos[2] = z; });
      const auto terms = humanoid.row.Judge(humanoid.world, nullptr);
      EXPECT_EQ(terms.terminated, !inside) << z;
      EXPECT_EQ(terms.survive, inside ? 5 : 0) << z;
    }
  }
}

TEST(Humanoid, ClipsTheContactCost) {
  Humanoid humanoid(json{{"contact_cost_min", 0.25}, {"contact_cost_max", 0.5}, {"contact_cost_weight", 1}});
  humanoid.Start();
  EXPECT_EQ(humanoid.row.Judge(humanoid.world, nullptr).contact, -0.25);  // no force yet
  humanoid.Return(0.2, 100);
  EXPECT_EQ(humanoid.row.Judge(humanoid.world, nullptr).contact, -0.5);  // on the floor
}

}  // namespace
