#include "trial/option_places.hpp"

#include <gtest/gtest.h>

namespace backplane {
namespace {

const std::map<std::string, std::string> kOrigin = {{"env.options.size", "a.yaml:2:5"},
                                                    {"env.options.lr", "a.yaml:3:5"},
                                                    {"learner.options.lr", "a.yaml:4:5"},
                                                    {"learner.plugin", "a.yaml:1:1"}};

std::vector<std::string> Paths(const std::string& sentence, const std::string& section) {
  std::vector<std::string> paths;
  for (const NamedOption& option : OptionsNamed(sentence, kOrigin, section)) paths.push_back(option.path);
  return paths;
}

TEST(OptionPlaces, FollowTheOrderOfTheErrorAndItsSection) {
  EXPECT_EQ(Paths("lr is too large for that size", "learner.options"),
            (std::vector<std::string>{"learner.options.lr", "env.options.size"}));
  EXPECT_EQ(Paths("lr is too large", "env.options"), std::vector<std::string>{"env.options.lr"});
}

TEST(OptionPlaces, ANameIsAWholeWord) {
  EXPECT_TRUE(Paths("already resized, size_max and the plugin too", "env.options").empty());
}

TEST(OptionPlaces, OmitPlacesThatTheErrorContains) {
  const std::string sentence = "lr (a.yaml:4:5) is too large for size";
  EXPECT_EQ(PlacesText(sentence, OptionsNamed(sentence, kOrigin, "learner.options")), " (env.options.size at a.yaml:2:5)");
}

TEST(MonitorNamed, FindsPlaceOfFailedMonitor) {
  const std::map<std::string, std::string> origin = {{"monitors.0.plugin", "a.yaml:8:5"}, {"monitors.1.plugin", "a.yaml:9:5"}};
  const auto found = MonitorNamed("monitors.1.options", "monitor.tensorboard", origin);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->path, "monitors.1.plugin");
  EXPECT_EQ(found->place, "a.yaml:9:5");
  EXPECT_FALSE(MonitorNamed("monitors.1.options", "learner.ppo", origin)) << "the section that was read last is another's";
  EXPECT_FALSE(MonitorNamed("env.options", "monitor.tensorboard", origin));
  EXPECT_FALSE(MonitorNamed("monitors.2.options", "monitor.tensorboard", origin)) << "a default, of no file";
}

}  // namespace
}  // namespace backplane
