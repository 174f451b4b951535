// The built-in models equal Gymnasium's files in every compiled number that affects the simulation.
#include <gmock/gmock.h>
#include <mujoco/mjxmacro.h>

#include <filesystem>
#include <map>

#include "ant_model.hpp"
#include "half_cheetah_model.hpp"
#include "humanoid_model.hpp"
#include "mujoco/model.hpp"
#include "places.hpp"

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

const std::map<std::string, std::string (*)()> kXml = {
    {"ant", ant::ModelXml}, {"half_cheetah", half_cheetah::ModelXml}, {"humanoid", humanoid::ModelXml}};

class BuiltInModel : public testing::TestWithParam<const char*> {};

TEST_P(BuiltInModel, CompilesToTheNumbersOfGymnasiums) {
  const auto assets = GymnasiumAssets();
  if (assets.empty()) GTEST_SKIP() << "no Gymnasium in .venv-oracle";
  const mj::Model ours = mj::LoadText("ours.xml", kXml.at(GetParam())()),
                  theirs = mj::LoadFile("", (assets / (std::string(GetParam()) + ".xml")).string());
  const Fields a = FieldsOf(ours.get()), b = FieldsOf(theirs.get());
  std::vector<std::string> differing;
  for (const auto& [name, values] : a)
    if (values != b.at(name)) differing.push_back(name);
  EXPECT_THAT(differing, testing::IsEmpty());
  EXPECT_GT(a.size(), 300u);  // the walk covered the whole model
  EXPECT_GT(a.at("body_mass").size(), 7u);
}

INSTANTIATE_TEST_SUITE_P(MuJoCo, BuiltInModel, testing::Values("ant", "half_cheetah", "humanoid"),
                         [](const auto& tested) { return std::string(tested.param); });

}  // namespace
