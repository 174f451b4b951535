// The plugin guide and the template it walks through.
#include <gmock/gmock.h>

#include "places.hpp"
#include "program.hpp"

namespace backplane::end_to_end {
namespace {

TEST(PluginGuide, ShowsTheTemplateAsItStands) {
  const std::string source = ReadFile(BACKPLANE_SOURCE_DIR "/plugins/envs/template/cpp/plugin.cpp");
  const size_t head = source.find("// One row.");
  ASSERT_NE(head, std::string::npos);
  EXPECT_THAT(ReadFile(BACKPLANE_SOURCE_DIR "/docs/plugin-guide.md"),
              testing::HasSubstr("```cpp\n" + source.substr(head) + "```\n"));
}

}  // namespace
}  // namespace backplane::end_to_end
