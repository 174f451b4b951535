// The canonical text of shipped points is unchanged. A different text would run finished trials of a results folder again. If
// you delete an option, delete it from `points/CONFIG.json` too.
#include <gtest/gtest.h>

#include <fstream>

#include "places.hpp"
#include "plugin/catalog.hpp"
#include "sweep/plan.hpp"

namespace backplane {
namespace {

using nlohmann::json;

constexpr char kSource[] = BACKPLANE_SOURCE_DIR;

Plan PlanOf(const std::string& config) {
  static Catalog catalog;
  if (catalog.plugins().empty()) catalog.AddFolder(BACKPLANE_PLUGIN_DIR);
  PlanOptions options;
  options.lookup = [](uint32_t kind, const std::string& name, const std::vector<std::filesystem::path>&, std::string* why_not) {
    return catalog.Find(kind, name, why_not);
  };
  PlanResult result = MakePlan(std::string(kSource) + "/configs/" + config + ".yaml", options);
  for (const Diagnostic& d : result.errors) ADD_FAILURE() << Format(d);
  return result.plan.value_or(Plan{});
}

// The text of the point with this name, with the clone's folder replaced in the paths of data files.
std::string TextOf(const Plan& plan, const std::string& name) {
  for (const PlannedTrial& trial : plan.trials) {
    if (plan.points[trial.point].name != name) continue;
    std::string text = plan.Identity(trial)["point"].dump();
    for (size_t at; (at = text.find(kSource)) != std::string::npos;) text.replace(at, sizeof(kSource) - 1, "<clone>");
    return text;
  }
  return "no point is called " + name;
}

class ShippedPoints : public testing::TestWithParam<const char*> {};

TEST_P(ShippedPoints, KeepTheirText) {
  const std::string config = GetParam();
  std::string file = config;
  file.replace(file.find('/'), 1, "_");
  const json golden = json::parse(std::ifstream(std::string(kSource) + "/tests/host/plan/sweep/points/" + file + ".json"));
  const Plan plan = PlanOf(config);
  for (const auto& [name, identity] : golden.items()) EXPECT_EQ(TextOf(plan, name), identity.dump()) << name;
}

INSTANTIATE_TEST_SUITE_P(OfEachKind, ShippedPoints,
                         testing::Values("parallel_efficiency/ant", "uav_grid/mappo", "ars/quadruped_stand",
                                         "summarization/batch_optimization"));

}  // namespace
}  // namespace backplane
