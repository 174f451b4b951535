#include "plugin/exports.hpp"

#include <gmock/gmock.h>

#include "fixture.hpp"

namespace backplane {
namespace {

using testing::HasSubstr;

TEST(SurplusExports, AreAllButTheEntryPoint) {
  EXPECT_THAT(SurplusExports(Fixture("env_good")), testing::IsEmpty());
  EXPECT_THAT(SurplusExports(Fixture("monitor_exports_more")), testing::ElementsAre("flawed_helper"));
}

TEST(SurplusExports, TextHasTheNumberAnExampleAndTheFix) {
  EXPECT_EQ(SurplusExportsText(Fixture("env_good")), "");
  const std::string text = SurplusExportsText(Fixture("monitor_exports_more"));
  EXPECT_THAT(text, HasSubstr("monitor_exports_more.so: expected bp_module_v1 as the only exported symbol, got 1 more"));
  EXPECT_THAT(text, HasSubstr("'flawed_helper'"));
  EXPECT_THAT(text, HasSubstr("$(backplane sdk --cflags) plugin.cpp -o monitor_exports_more.so`"));
}

// Loading such a file reports the reason.
TEST(SurplusExports, TextIsEmptyForAFileThatIsNoPlugin) { EXPECT_EQ(SurplusExportsText(Fixture("env_text")), ""); }

}  // namespace
}  // namespace backplane
