// The pages for plugin authors, and the templates that they show.
#include <gmock/gmock.h>

#include <algorithm>
#include <regex>

#include "places.hpp"
#include "program.hpp"

namespace backplane::end_to_end {
namespace {

using ::testing::HasSubstr;

std::string OfTree(const std::string& file) { return ReadFile(BACKPLANE_SOURCE_DIR "/" + file); }

// A file of a template, with the plugin name of the page.
std::string OfTemplate(const std::string& folder, const std::string& file, const std::string& name) {
  const std::regex word("template_(cpp|c|agents|mujoco)");
  return std::regex_replace(OfTree("templates/" + folder + "/" + file), word, name);
}

// The first code block of a language on a page, without its fences.
std::string FirstBlock(const std::string& page, const std::string& language) {
  const std::string text = OfTree(page), fence = "```" + language + "\n";
  const size_t begin = text.find(fence) + fence.size();
  return text.substr(begin, text.find("```\n", begin) - begin);
}

TEST(PluginGuide, ShowsTheTemplatesUnchanged) {
  struct Shown {
    const char *page, *folder, *name;
  };
  for (const auto& [page, folder, name] :
       {Shown{"env", "env/cpp", "my_task"}, Shown{"mujoco-task", "env/mujoco", "my_robot"},
        Shown{"learner-on-candidates", "learner/cpp", "my_search"}, Shown{"monitor", "monitor/cpp", "my_table"}}) {
    const std::string block = FirstBlock("docs/guide/" + std::string(page) + ".md", "cpp");
    EXPECT_GT(std::ranges::count(block, '\n'), 20) << page;
    EXPECT_THAT(OfTemplate(folder, "plugin.cpp", name), HasSubstr(block)) << page;
  }
  EXPECT_EQ(FirstBlock("docs/plugin-guide.md", "cmake"), OfTemplate("env/cpp", "CMakeLists.txt", "my_task"));
  EXPECT_EQ(FirstBlock("docs/guide/env.md", "yaml"), OfTemplate("env/cpp", "template_cpp.yaml", "my_task"));
}

TEST(PluginGuide, ShowsTheThreeAgentsThatAreTested) {
  const std::string source = OfTree("tests/fixtures/plugins/couriers.cpp");
  const size_t head = source.find("#include");
  ASSERT_NE(head, std::string::npos);
  EXPECT_THAT(OfTree("docs/guide/several-agents.md"), HasSubstr("```cpp\n" + source.substr(head) + "```\n"));
  EXPECT_LE(std::ranges::count(source, '\n'), 80) << "the size limit of an env with several agents";
}

// Size limits for plugin authors: boilerplate of a task.
TEST(Templates, AreShort) {
  EXPECT_LE(std::ranges::count(OfTree("templates/env/cpp/plugin.cpp"), '\n'), 60);
  EXPECT_LE(std::ranges::count(OfTree("templates/env/c/plugin.c"), '\n'), 120);
  EXPECT_LE(std::ranges::count(OfTree("templates/env/agents/plugin.cpp"), '\n'), 80);
}

class NewCommand : public ProgramTest {};

TEST_F(NewCommand, WritesTheTemplateUnderItsNewNameOnly) {
  const Finished written = Run("new env my_task --lang c");
  ASSERT_EQ(written.exit, 0) << written.err;
  EXPECT_THAT(written.out, HasSubstr("plugin validate my_task/build/env_my_task.so"));
  EXPECT_EQ(ReadFile(dir_ / "my_task/plugin.c"), OfTemplate("env/c", "plugin.c", "my_task"));
  EXPECT_THAT(ReadFile(dir_ / "my_task/my_task.yaml"), HasSubstr("env: {plugin: my_task}"));
  EXPECT_THAT(ReadFile(dir_ / "my_task/README.md"), HasSubstr("# env.my_task\n"));
  EXPECT_THAT(ReadFile(dir_ / "my_task/.github/workflows/ci.yml"), HasSubstr("backplane run my_task.yaml"));
}

TEST_F(NewCommand, LeavesExistingFilesUnchanged) {
  Write("my_task", "a file");
  const Finished refused = Run("new monitor my_task");
  EXPECT_EQ(refused.exit, 2);
  EXPECT_THAT(refused.err, HasSubstr("'my_task', which already exists in this folder\nthis folder is unchanged"));
  EXPECT_EQ(ReadFile(dir_ / "my_task"), "a file");
  EXPECT_EQ(Run("new env ../my_task").exit, 2);
}

}  // namespace
}  // namespace backplane::end_to_end
