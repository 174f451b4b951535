#include "results/point_config.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "base/scratch_folder.hpp"

namespace backplane {
namespace {

// A batch of an older program calls its stages "phases".
TEST(BatchConfig, APointHasItsOwnValuesOverTheExperimentsWithoutStages) {
  for (const std::string stages : {"stages", "phases"}) {
    const ScratchFolder folder;
    const std::filesystem::path file = folder.path() / "config.yaml";
    std::ofstream(file) << "experiment: walk\nlearner: {plugin: p, options: {lr: 0.1, text: \"010\", on: true}}\n"
                        << "sweep: {list: [{name: fast, learner.options.lr: 5e-1, " << stages << ".first: x}]}\n"
                        << stages << ": [{name: first}]\n";
    const BatchConfig batch(file);
    PlanLine line;
    line.name = "fast";
    nlohmann::json options = {{"lr", 0.5}, {"text", "010"}, {"on", true}};
    EXPECT_EQ(batch.OfPoint(line),
              (nlohmann::json{{"experiment", "walk"}, {"learner", {{"plugin", "p"}, {"options", options}}}}));
    line.name = "another";
    options["lr"] = 0.1;
    EXPECT_EQ(batch.OfPoint(line)["learner"]["options"], options);
  }
}

}  // namespace
}  // namespace backplane
