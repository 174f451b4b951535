// The built-in models equal Gymnasium's files in every compiled number that affects the simulation.
#include <gmock/gmock.h>
#include <mujoco/mjxmacro.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <numeric>

#include "ant_model.hpp"
#include "half_cheetah_model.hpp"
#include "hopper_model.hpp"
#include "inverted_double_pendulum_model.hpp"
#include "inverted_pendulum_model.hpp"
#include "mujoco/humanoid_model.hpp"
#include "mujoco/model.hpp"
#include "mujoco/scales.hpp"
#include "places.hpp"
#include "pusher_model.hpp"
#include "reacher_model.hpp"
#include "swimmer_model.hpp"
#include "walker2d_model.hpp"

namespace {

using Fields = std::map<std::string, std::vector<double>>;

// Names, looks, memory, and data that a simulation never reads: keyframes, user data, custom numbers.
bool HasNoPart(const std::string& field) {
  for (const char* prefix : {"name", "path", "tex_", "mat_", "cam_", "light_", "key_", "numeric_"})
    if (field.starts_with(prefix)) return true;
  for (const char* name : {"nnames", "nnames_map", "npaths", "ncam", "nlight", "ntex", "ntexdata", "nmat", "nkey", "nnumeric",
                           "nnumericdata", "nuser_geom", "geom_user", "geom_matid", "geom_rgba", "narena", "nbuffer"})
    if (field == name) return true;
  return false;
}

Fields FieldsOf(const mjModel* m) {
  Fields fields;
  const auto add = [&](const char* name, const auto* values, int64_t n) {
    if (!HasNoPart(name)) fields[name].assign(values, values + n);
  };
  MJMODEL_POINTERS_PREAMBLE(m)
#define X(name) add(#name, &m->name, 1);
  MJMODEL_SIZES
#undef X
#define X(type, name, nr, nc) add(#name, m->name, static_cast<int64_t>(m->nr) * (nc));
  MJMODEL_POINTERS
#undef X
#define X(type, name, n) add("opt." #name, &m->opt.name, n);
#define XVEC(type, name, n) add("opt." #name, m->opt.name, n);
  MJOPTION_FIELDS
#undef X
#undef XVEC
#define X(name, n) add("stat." #name, &m->stat.name, n);
#define XVEC(name, n) add("stat." #name, m->stat.name, n);
  MJSTATISTIC_FIELDS
#undef X
#undef XVEC
  return fields;
}

std::filesystem::path GymnasiumAssets() {
  const std::filesystem::path lib = BACKPLANE_SOURCE_DIR "/.venv-oracle/lib";
  if (std::filesystem::exists(lib))
    for (const auto& python : std::filesystem::directory_iterator(lib))
      if (const auto assets = python.path() / "site-packages/gymnasium/envs/mujoco/assets"; exists(assets)) return assets;
  return {};
}

struct BuiltIn {
  const char* task;
  const char* file;  // Gymnasium's
  std::string xml;
};
void PrintTo(const BuiltIn& built_in, std::ostream* out) { *out << built_in.file; }

const BuiltIn kBuiltIn[] = {
    {"ant", "ant.xml", ant::ModelXml()},
    {"half_cheetah", "half_cheetah.xml", half_cheetah::ModelXml()},
    {"hopper", "hopper.xml", hopper::kModelXml},
    {"humanoid", "humanoid.xml", mj::HumanoidXml(mj::Pose::kStanding)},
    {"humanoid_standup", "humanoidstandup.xml", mj::HumanoidXml(mj::Pose::kLying)},
    {"inverted_double_pendulum", "inverted_double_pendulum.xml", inverted_double_pendulum::kModelXml},
    {"inverted_pendulum", "inverted_pendulum.xml", inverted_pendulum::kModelXml},
    {"pusher", "pusher_v5.xml", pusher::kModelXml},
    {"reacher", "reacher.xml", reacher::kModelXml},
    {"swimmer", "swimmer.xml", swimmer::kModelXml},
    {"walker2d", "walker2d_v5.xml", walker2d::kModelXml},
};

class BuiltInModel : public testing::TestWithParam<BuiltIn> {};

TEST_P(BuiltInModel, CompilesToTheNumbersOfGymnasiums) {
  const auto assets = GymnasiumAssets();
  if (assets.empty()) GTEST_SKIP() << "no Gymnasium in .venv-oracle";
  const mj::Model ours = mj::LoadText("ours.xml", GetParam().xml),
                  theirs = mj::LoadFile("", (assets / GetParam().file).string());
  const Fields a = FieldsOf(ours.get()), b = FieldsOf(theirs.get());
  std::vector<std::string> differing;
  for (const auto& [name, values] : a)
    if (values != b.at(name)) differing.push_back(name);
  EXPECT_THAT(differing, testing::IsEmpty());
  EXPECT_GT(a.size(), 300u);  // the walk covered the whole model
  EXPECT_EQ(a.at("body_mass").size(), static_cast<size_t>(ours->nbody));
}

double Sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

// True if a field of `b` is `factor` times the same field of `a`, and not equal to it.
bool IsScaled(const Fields& a, const Fields& b, const char* field, double factor) {
  std::vector<double> scaled = a.at(field);
  for (double& value : scaled) value *= factor;
  return b.at(field) == scaled && b.at(field) != a.at(field);
}

// The factors are powers of two, so products are exact.
TEST(MujocoScales, ScaleTheFieldsAndRestoreEveryBit) {
  const mj::Model model = mj::LoadText("ant.xml", ant::ModelXml());
  const Fields before = FieldsOf(model.get());
  mj::Scales scales;
  const std::vector<bp::Parameter> parameters = mj::Scales::Parameters();
  const std::vector<std::pair<std::string, const char*>> fields = {
      {"mass", "body_mass"}, {"friction", "geom_friction"}, {"actuator_gain", "actuator_gainprm"}, {"gravity", "opt.gravity"}};
  ASSERT_EQ(fields.size(), parameters.size());
  for (size_t i = 0; i < fields.size(); ++i) {
    EXPECT_EQ(fields[i].first, parameters[i].name);
    scales.Set(model.get(), i, 2);
    const Fields after = FieldsOf(model.get());
    for (const auto& [name, field] : fields)
      EXPECT_EQ(name == fields[i].first, IsScaled(before, after, field, 2)) << field << " by " << fields[i].first;
    if (i == 0) {
      EXPECT_TRUE(IsScaled(before, after, "body_inertia", 2));
      // Constants that MuJoCo derives from masses.
      EXPECT_NEAR(2 * before.at("body_subtreemass")[0], after.at("body_subtreemass")[0], 1e-9);
      EXPECT_LT(Sum(after.at("dof_invweight0")), Sum(before.at("dof_invweight0")));
    }
    scales.Set(model.get(), i, 1);
    EXPECT_EQ(before, FieldsOf(model.get())) << fields[i].first;
  }
  scales.Set(model.get(), 3, 0);  // weightless
  EXPECT_EQ(0.0, FieldsOf(model.get()).at("opt.gravity")[2]);
  scales.Set(model.get(), 0, 0.5);  // two at the same time
  EXPECT_TRUE(IsScaled(before, FieldsOf(model.get()), "body_mass", 0.5));
  EXPECT_EQ(0.0, FieldsOf(model.get()).at("opt.gravity")[2]);
  for (const double wrong : {0.0, -1.0, std::nan(""), HUGE_VAL}) EXPECT_THROW(scales.Set(model.get(), 0, wrong), bp::Error);
  EXPECT_TRUE(IsScaled(before, FieldsOf(model.get()), "body_mass", 0.5)) << "a rejected factor changes nothing";
}

INSTANTIATE_TEST_SUITE_P(MuJoCo, BuiltInModel, testing::ValuesIn(kBuiltIn),
                         [](const auto& tested) { return std::string(tested.param.task); });

}  // namespace
