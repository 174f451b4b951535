// Rows that share an mjData, compared with one mjData per row that MuJoCo's own calls step over the unchanged model: the same
// bits in the state and in everything that tasks read.
#include <gmock/gmock.h>

#include <atomic>
#include <map>
#include <thread>

#include "ant_model.hpp"
#include "half_cheetah_model.hpp"
#include "hopper_model.hpp"
#include "inverted_pendulum_model.hpp"
#include "mujoco/collisions.hpp"
#include "mujoco/humanoid_model.hpp"
#include "mujoco/simulation.hpp"
#include "pusher_model.hpp"
#include "reacher_model.hpp"
#include "swimmer_model.hpp"
#include "walker2d_model.hpp"

namespace {

constexpr int kSharingSkip = 5;

struct SharingTask {
  const char* name;
  std::string xml;
  double amplitude;
};
const SharingTask kSharing[] = {{"ant", ant::ModelXml(), 1},
                                {"half_cheetah", half_cheetah::ModelXml(), 1},
                                {"hopper", hopper::kModelXml, 1},
                                {"humanoid", mj::HumanoidXml(mj::Pose::kStanding), 0.4},
                                {"humanoid_standup", mj::HumanoidXml(mj::Pose::kLying), 0.4},
                                {"pusher", pusher::kModelXml, 2},
                                {"swimmer", swimmer::kModelXml, 1},
                                {"walker2d", walker2d::kModelXml, 1}};

mj::Model Prepared(const std::string& xml) { return mj::Quickened(mj::LoadText("task.xml", xml), "task.xml", xml); }

// A row and its reference.
struct BesidePlain {
  BesidePlain(const mjModel* shared, const mjModel* plain, uint64_t seed)
      : model(shared), file(plain), rng(seed), row(shared), own(mj::MakeData(plain)) {
    Restart();
  }
  void Restart() {
    std::vector<double> noise(file->nv);
    for (double& value : noise) value = rng.Range(-0.1, 0.1);
    row.Restart(model, [&](double*, double* qvel) { std::copy(noise.begin(), noise.end(), qvel); });
    mj_resetData(file, own.get());
    std::copy(noise.begin(), noise.end(), own->qvel);
    mj_forward(file, own.get());
  }
  void Step(double amplitude) {
    std::vector<double> ctrl(file->nu);
    for (double& value : ctrl) value = amplitude * rng.Range(-1, 1);
    row.Step(model, ctrl.data(), kSharingSkip, true);
    std::copy(ctrl.begin(), ctrl.end(), own->ctrl);
    for (int k = 0; k < kSharingSkip; ++k) mj_step(file, own.get());
    mj_rnePostConstraint(file, own.get());
  }
  // Names the first difference.
  std::string Differs() const {
    const mjData &a = row.data(), &b = *own;
    std::vector<mjtNum> state(mj_stateSize(file, mjSTATE_INTEGRATION)), wanted(state.size());
    row.Save(model, state.data());
    mj_getState(file, own.get(), wanted.data(), mjSTATE_INTEGRATION);
    const auto same = [](const mjtNum* x, const mjtNum* y, int n) { return std::equal(x, x + n, y); };
    if (state != wanted) return "state";
    if (a.time != b.time || !same(a.qpos, b.qpos, file->nq) || !same(a.qvel, b.qvel, file->nv)) return "qpos, qvel";
    if (!same(a.ctrl, b.ctrl, file->nu) || !same(a.qfrc_actuator, b.qfrc_actuator, file->nv)) return "ctrl, qfrc_actuator";
    if (!same(a.xpos, b.xpos, 3 * file->nbody) || !same(a.xipos, b.xipos, 3 * file->nbody)) return "xpos, xipos";
    if (!same(a.cinert, b.cinert, 10 * file->nbody) || !same(a.cvel, b.cvel, 6 * file->nbody)) return "cinert, cvel";
    if (!same(a.cfrc_ext, b.cfrc_ext, 6 * file->nbody)) return "cfrc_ext";
    if (!same(a.ten_length, b.ten_length, file->ntendon) || !same(a.geom_xpos, b.geom_xpos, 3 * file->ngeom)) return "places";
    if (a.ncon != b.ncon) return "ncon";
    for (int i = 0; i < a.ncon; ++i)
      if (!same(a.contact[i].pos, b.contact[i].pos, 3) || a.contact[i].geom[1] != b.contact[i].geom[1]) return "contact";
    return "";
  }

  const mjModel *model, *file;
  bp::Rng rng;
  mj::Simulation row;
  mj::Data own;
};

class SharedData : public testing::TestWithParam<SharingTask> {
 protected:
  const mj::Model model_ = Prepared(GetParam().xml), plain_ = mj::LoadText("task.xml", GetParam().xml);
  BesidePlain Row(uint64_t seed) const { return BesidePlain(model_.get(), plain_.get(), seed); }
  double amplitude() const { return GetParam().amplitude; }
};
INSTANTIATE_TEST_SUITE_P(MuJoCo, SharedData, testing::ValuesIn(kSharing),
                         [](const auto& tested) { return std::string(tested.param.name); });

TEST_P(SharedData, GivesTheBitsOfOneForEachRow) {
  BesidePlain rows[] = {Row(1), Row(2), Row(3)};
  for (const BesidePlain& row : rows) ASSERT_EQ(row.Differs(), "");  // just begun
  int contacts = 0;
  for (int t = 0; t < 60; ++t) {
    for (BesidePlain& row : rows) {
      if (t % 25 == 24 && &row == &rows[1]) row.Restart();
      row.Step(amplitude());
      ASSERT_EQ(row.Differs(), "") << t;  // still at the slot
      contacts += row.own->ncon;
    }
    EXPECT_EQ(&rows[0].row.data(), &rows[2].row.data());
    for (const BesidePlain& row : rows) ASSERT_EQ(row.Differs(), "") << t;  // brought back
  }
  EXPECT_EQ(contacts > 30, !(model_->opt.disableflags & mjDSBL_CONTACT)) << contacts;
}

TEST_P(SharedData, GivesTheSameBitsOnADifferentThread) {
  BesidePlain rows[] = {Row(1), Row(2), Row(3), Row(4)};
  for (int t = 0; t < 20; ++t) {
    const auto half = [&](int which) {
      for (int r = which; r < 4; r += 2) rows[r].Step(amplitude());
    };
    std::thread other(half, t % 2);
    half((t + 1) % 2);
    other.join();
    if (t % 3 != 0) continue;
    for (const BesidePlain& row : rows) ASSERT_EQ(row.Differs(), "") << t;
  }
  for (const BesidePlain& row : rows) EXPECT_EQ(row.Differs(), "");
}

TEST_P(SharedData, IsAsNewAfterARowThatExploded) {
  BesidePlain fine = Row(1);
  mj::Simulation bad(model_.get());
  for (int t = 0; t < 5; ++t) {
    bad.Restart(model_.get(), [](double* qpos, double*) { qpos[0] = 1e11; });
    const std::vector<double> ctrl(model_->nu);
    EXPECT_THROW(bad.Step(model_.get(), ctrl.data(), kSharingSkip, true), bp::Error);
    fine.Step(amplitude());
    ASSERT_EQ(fine.Differs(), "") << t;
  }
}

TEST_P(SharedData, ResumesFromASnapshotOfADifferentRow) {
  BesidePlain a = Row(1), b = Row(2);
  for (int t = 0; t < 10; ++t) a.Step(amplitude()), b.Step(amplitude());
  std::vector<char> state(mj::Simulation::StateBytes(model_.get()));
  a.row.Save(model_.get(), state.data());
  b.row.Load(model_.get(), state.data());
  b.rng = a.rng;
  mj_resetData(plain_.get(), b.own.get());
  mj_copyState(plain_.get(), a.own.get(), b.own.get(), mjSTATE_INTEGRATION);
  for (int t = 0; t < 10; ++t) {
    a.Step(amplitude()), b.Step(amplitude());
    ASSERT_EQ(a.Differs() + b.Differs(), "");
  }
  EXPECT_TRUE(std::equal(a.own->qpos, a.own->qpos + plain_->nq, b.own->qpos));
}

constexpr char kTwoBalls[] = R"(
<mujoco>
  <option><flag sleep='%s'/></option>
  <worldbody>
    <geom type='plane' size='5 5 5'/>
    <body pos='0 0 1'><freejoint/><geom size='0.1'/></body>
    <body pos='0 1 1'><freejoint/><geom size='0.1'/></body>
  </worldbody>
</mujoco>)";
std::string TwoBallsXml(const char* sleep) {
  char xml[sizeof kTwoBalls + 20];
  std::snprintf(xml, sizeof xml, kTwoBalls, sleep);
  return xml;
}
mj::Model TwoBalls(const char* sleep) { return mj::LoadText("balls.xml", TwoBallsXml(sleep)); }

TEST(MuJoCoDataPool, RowsWithAnIncompleteStateKeepTheirOwn) {
  const mj::Model model = TwoBalls("enable");
  mj::Simulation a(model.get()), b(model.get());
  EXPECT_NE(&a.data(), &b.data());
  const mjData* const at = &a.data();
  std::thread([&] { EXPECT_EQ(&a.data(), at); }).join();
  const double none[1] = {};  // no actuators
  for (int t = 0; t < 1000; ++t) {
    a.Step(model.get(), none, 5, false);
    if (t == 0) b.Step(model.get(), none, 5, false);
  }
  EXPECT_GE(a.data().tree_asleep[0], 0);  // at rest, and so it stays
  EXPECT_LT(b.data().tree_asleep[0], 0);
}

TEST(MuJoCoDataPool, ThreadsThatEndLeaveTheirsToOthers) {
  const mj::Model model = TwoBalls("disable");
  mj::Simulation row(model.get());
  const mjData *first = nullptr, *second = nullptr;
  std::atomic<bool> first_has_ended{false};
  std::thread other([&] {  // exists at the same time, so its number differs from the first thread's
    while (!first_has_ended) std::this_thread::yield();
    second = &row.data();
  });
  std::thread([&] { first = &row.data(); }).join();
  first_has_ended = true;
  other.join();
  EXPECT_EQ(first, second);
  EXPECT_NE(first, &row.data());
}

TEST(MuJoCoDataPool, GoWithTheLastRow) {
  const mj::Model model = TwoBalls("disable");
  std::weak_ptr<mj::DataPool> pool;
  {
    mj::Simulation a(model.get());
    pool = mj::DataPool::Of(model.get());
    mj::Simulation b(std::move(a));
    EXPECT_EQ(b.data().qpos[2], 1);
  }
  EXPECT_TRUE(pool.expired());
}

// All pairs that may touch, in the order of MuJoCo's own search. Everything else that a simulation reads is unchanged.
TEST_P(SharedData, HasItsPairsWrittenOut) {
  const std::map<std::string, int> pairs = {
      {"ant", 13},   {"half_cheetah", 8}, {"hopper", 7},  {"humanoid", 126}, {"humanoid_standup", 126},
      {"pusher", 7}, {"swimmer", 0},      {"walker2d", 7}};
  EXPECT_EQ(model_->npair, pairs.at(GetParam().name));
  EXPECT_EQ(model_->nbody, plain_->nbody);
  EXPECT_TRUE(std::equal(plain_->body_mass, plain_->body_mass + plain_->nbody, model_->body_mass));
  EXPECT_TRUE(std::equal(plain_->body_inertia, plain_->body_inertia + 3 * plain_->nbody, model_->body_inertia));
  EXPECT_TRUE(std::equal(plain_->geom_size, plain_->geom_size + 3 * plain_->ngeom, model_->geom_size));
  EXPECT_EQ(model_->stat.meaninertia, plain_->stat.meaninertia);
}

// Contacts that a pair cannot express, or that need no pair.
TEST(MuJoCoQuickened, LeavesOtherModelsTheirSearch) {
  const auto pairs = [](const std::string& geom, const std::string& more = "") {
    return Prepared("<mujoco><worldbody><geom type='plane' size='5 5 5'/><body pos='0 0 1'><freejoint/>" + geom +
                    "</body></worldbody>" + more + "</mujoco>")
        ->npair;
  };
  EXPECT_EQ(pairs("<geom name='a' size='0.1'/>"), 1);
  EXPECT_EQ(pairs("<geom name='a' size='0.1' friction='2 1 1' solmix='3' solref='0.01 1' priority='1'/>"), 1);
  EXPECT_EQ(pairs("<geom name='a' size='0.1' gap='0.1'/>"), 0);
  EXPECT_EQ(pairs("<geom name='a' type='ellipsoid' size='0.1 0.2 0.3'/>"), 0);
  EXPECT_EQ(pairs("<geom name='a' size='0.1' contype='0' conaffinity='0'/>"), 0);
  EXPECT_EQ(pairs("<geom name='a' size='0.1'/>", "<option><flag contact='disable'/></option>"), 0);
  EXPECT_EQ(pairs("<geom name='geom 0' size='0.1'/>"), 0);  // a name that the code for names does not expect
}

TEST(MuJoCoQuickened, SearchesForContactsOnlyIfSomePairMayTouch) {
  for (const char* xml : {swimmer::kModelXml, reacher::kModelXml, inverted_pendulum::kModelXml})
    EXPECT_TRUE(Prepared(xml)->opt.disableflags & mjDSBL_CONTACT) << xml;
  for (const std::string& xml : {ant::ModelXml(), std::string(pusher::kModelXml), TwoBallsXml("disable")})
    EXPECT_FALSE(Prepared(xml)->opt.disableflags & mjDSBL_CONTACT) << xml;
}

TEST(MuJoCoDataPool, IslandsAreSearchedOnlyIfSeveralArePossible) {
  const mj::Model one = Prepared(ant::ModelXml());
  EXPECT_TRUE(one->opt.disableflags & mjDSBL_ISLAND);
  const mj::Model two = Prepared(TwoBallsXml("disable"));
  EXPECT_FALSE(two->opt.disableflags & mjDSBL_ISLAND);
}

}  // namespace
