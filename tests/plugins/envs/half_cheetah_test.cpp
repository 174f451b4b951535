#include "half_cheetah.hpp"

#include "mujoco_row.hpp"

namespace {

using nlohmann::json;

struct HalfCheetah : harness::Single<half_cheetah::HalfCheetah> {
  explicit HalfCheetah(const json& options = json::object()) : Single("half_cheetah", options) {}
};

TEST(HalfCheetah, CompilesToTheModelOfTheTable) {
  const HalfCheetah cheetah;
  const mjModel& m = cheetah.model();
  EXPECT_EQ(std::vector<int64_t>({m.nq, m.nv, m.nu, m.nbody, m.njnt, m.ngeom, m.ntendon}),
            std::vector<int64_t>({9, 9, 6, 8, 9, 9, 0}));
  EXPECT_NEAR(mj_getTotalmass(&m), 14, 1e-12);
  EXPECT_EQ(m.opt.integrator, mjINT_EULER);
  EXPECT_EQ(m.opt.solver, mjSOL_NEWTON);
  EXPECT_EQ(m.opt.iterations, 100);
  EXPECT_EQ(m.opt.timestep, 0.01);
  EXPECT_EQ(cheetah.world.dt(), 0.05);
  const double gears[] = {120, 90, 60, 120, 60, 30};
  for (int i = 0; i < m.nu; ++i) {
    EXPECT_EQ(m.actuator_gear[6 * i], gears[i]) << i;
    EXPECT_EQ(m.actuator_ctrlrange[2 * i], -1);
    EXPECT_EQ(m.actuator_ctrlrange[2 * i + 1], 1);
  }
  EXPECT_EQ(cheetah.ObsSize(), 17);
  EXPECT_EQ(HalfCheetah(json{{"exclude_current_positions_from_observation", false}}).ObsSize(), 18);
}

TEST(HalfCheetah, StartsAsTheFiguresSay) {
  HalfCheetah cheetah;
  cheetah.Start();
  EXPECT_EQ(cheetah.data().nefc, 0);
  EXPECT_NEAR(cheetah.data().subtree_com[0], 0.0377677824268, 1e-12);
  EXPECT_NEAR(cheetah.data().subtree_com[1], 0, 1e-12);
  EXPECT_NEAR(cheetah.data().subtree_com[2], 0.551027615063, 1e-12);
  EXPECT_NEAR(harness::SumOfSizes(cheetah.data().cinert, 80), 28.2192261794, 1e-9);
}

// With contacts: MuJoCo 2.2.2 to 4.0.1 agree on this model. All values but the first sum the control cost in float64.
TEST(HalfCheetah, EarnsTheGoldenRewards) {
  HalfCheetah cheetah;
  cheetah.Start();
  double sum = 0;
  for (int t = 1; t <= 100; ++t) {
    const double reward = cheetah.Advance(0.5, t);
    if (t == 1) {
      EXPECT_NEAR(reward, -0.053442510539, 1e-11);
    }
    if (t == 5) {
      EXPECT_NEAR(reward, 0.1633272783, 4e-8);
    }
    if (t == 10) {
      EXPECT_NEAR(reward, -0.2621329853, 4e-8);
    }
    sum += reward;
  }
  EXPECT_NEAR(sum, -29.4691715, 4e-6);
  EXPECT_NEAR(cheetah.data().qpos[0], -1.09777174, 1e-8);
  EXPECT_NEAR(cheetah.data().qpos[1], -0.09616937, 1e-8);
}

TEST(HalfCheetah, FliesAsTheFiguresSay) {
  HalfCheetah cheetah;
  cheetah.Start([&](double* qpos, double*) {
    harness::AtMidRange(cheetah.model(), qpos);
    qpos[1] = 5;
  });
  cheetah.Return(0.1, 20);
  EXPECT_NEAR(cheetah.data().qpos[1], 0.049601523227, 1e-8);
  EXPECT_NEAR(harness::SumOfSizes(cheetah.data().qpos, 9), 0.273510067891, 1e-8);
}

}  // namespace
