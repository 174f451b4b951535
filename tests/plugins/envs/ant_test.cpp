#include "ant.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <mutex>
#include <thread>

#include "mujoco/errors.hpp"

namespace {

struct Flight {
  explicit Flight(ant::Options options = {}) : world(options), row(world) {}
  void Begin() {
    const mjModel* m = world.model();
    const std::vector<double> qpos(m->qpos0, m->qpos0 + m->nq), qvel(m->nv);
    row.Begin(world, qpos.data(), qvel.data());
  }
  double Advance(double amplitude, int t) {
    float action[8];
    for (int i = 0; i < 8; ++i) action[i] = static_cast<float>(amplitude * std::sin(0.3 * (t - 1) + i));
    return row.Advance(world, action).Reward();
  }
  ant::World world;
  ant::Ant row;
};

TEST(Ant, CompilesToTheModelOfTheTable) {
  const Flight f;
  const mjModel& m = *f.world.model();
  EXPECT_EQ(std::vector<int64_t>({m.nq, m.nv, m.nu, m.nbody, m.njnt, m.ngeom, m.ntendon}),
            std::vector<int64_t>({15, 14, 8, 14, 9, 14, 0}));
  EXPECT_NEAR(mj_getTotalmass(&m), 0.91088008270739, 1e-14);
  EXPECT_EQ(m.opt.integrator, mjINT_RK4);
  EXPECT_EQ(m.opt.solver, mjSOL_NEWTON);
  EXPECT_EQ(m.opt.iterations, 100);
  EXPECT_EQ(m.opt.timestep, 0.01);
  EXPECT_EQ(f.world.dt, 0.05);
  for (int i = 0; i < m.nu; ++i) {
    EXPECT_EQ(m.actuator_gear[6 * i], 150);
    EXPECT_EQ(m.actuator_ctrlrange[2 * i], -1);
    EXPECT_EQ(m.actuator_ctrlrange[2 * i + 1], 1);
  }
  EXPECT_EQ(f.world.ObsSize(), 105);
}

TEST(Ant, StartsAsTheFiguresSay) {
  Flight f;
  f.Begin();
  double sum = 0;
  for (int i = 0; i < 140; ++i) sum += std::abs(f.row.data().cinert[i]);
  EXPECT_EQ(f.row.data().nefc, 4);
  EXPECT_EQ(f.row.data().ncon, 0);
  EXPECT_NEAR(f.row.data().subtree_com[2], 0.75, 1e-12);
  EXPECT_NEAR(sum, 1.98915040923, 1e-10);
}

TEST(Ant, EarnsTheGoldenRewards) {
  Flight f;
  f.Begin();
  EXPECT_NEAR(f.Advance(0.5, 1), 0.582715728294, 1e-8 * 0.58);
  EXPECT_NEAR(f.Advance(0.5, 2), 0.568433474858, 3e-7);  // the figure sums the control cost in float64
  EXPECT_NEAR(f.row.data().qpos[2], 0.768254806164, 1e-8);
}

TEST(Ant, EarnsTheReturnOfItsMuJoCoVersion) {
  if (std::string(mj_versionString()).substr(0, 3) != "4.0") GTEST_SKIP() << "no figures for MuJoCo " << mj_versionString();
  Flight f;
  f.Begin();
  double sum = 0;
  for (int t = 1; t <= 100; ++t) sum += f.Advance(0.5, t);
  EXPECT_NEAR(sum, 61.4895896, 3e-5);  // the figure sums the control cost in float64
  EXPECT_NEAR(f.row.data().qpos[2], .607782162, 1e-8);
}

// Contact-free flight: the same on every MuJoCo version.
TEST(Ant, FliesAsTheFiguresSay) {
  Flight f;
  const mjModel* m = f.world.model();
  std::vector<double> qpos(m->qpos0, m->qpos0 + m->nq);
  qpos[2] = 5;
  const double signs[] = {1, -1, -1, 1};
  for (int leg = 0; leg < 4; ++leg) qpos[7 + 2 * leg] = 0, qpos[8 + 2 * leg] = 0.9 * signs[leg];
  const std::vector<double> qvel(m->nv);
  f.row.Begin(f.world, qpos.data(), qvel.data());
  f.Advance(0.1, 1);
  f.Advance(0.1, 2);
  double speed = 0;
  for (int i = 0; i < m->nv; ++i) speed += std::abs(f.row.data().qvel[i]);
  EXPECT_NEAR(f.row.data().qpos[2], 4.951950211804, 1e-8 * 5);
  EXPECT_NEAR(speed, 7.511324451002, 1e-8 * 7.5);
}

TEST(Ant, LeavesOutWhatTheOptionsLeaveOut) {
  EXPECT_EQ(Flight({.include_cfrc_ext_in_observation = false}).world.ObsSize(), 27);
  EXPECT_EQ(Flight({.exclude_current_positions_from_observation = false}).world.ObsSize(), 107);
}

TEST(Ant, AMuJoCoErrorIsCaughtOnItsOwnThread) {
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

TEST(Ant, TurnsABrokenModelIntoASentence) {
  EXPECT_THROW(Flight({.xml_path = "/nonexistent.xml"}), bp::Error);
}

}  // namespace
