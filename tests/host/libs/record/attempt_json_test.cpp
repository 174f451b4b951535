#include "record/attempt_json.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "base/scratch_folder.hpp"
#include "record/attempt_files.hpp"
#include "record/measurements.hpp"

namespace backplane {
namespace {

TEST(ResultJson, IsAnObjectWithAState) {
  EXPECT_EQ("COMPLETED", ParseResultJson(R"({"state": "COMPLETED", "a": [1]})")->at("state"));
  for (const char* text : {"", "{}", "[]", "7", R"({"state": 1})", R"({"state": "COMPL)"}) EXPECT_FALSE(ParseResultJson(text));
}

// Copying or comparing a value recurses at each level.
TEST(ResultJson, IsNotNestedSoThatItsCopyWouldExhaustTheStack) {
  const auto deep = [](size_t levels) {
    return R"({"state": "COMPLETED", "a": )" + std::string(levels, '[') + std::string(levels, ']') + "}";
  };
  EXPECT_TRUE(ParseResultJson(deep(60)));
  EXPECT_FALSE(ParseResultJson(deep(100000)));
}

TEST(ResultJson, RejectsLongFilesBeforeReadingThem) {
  const ScratchFolder folder;
  const std::filesystem::path file = folder.path() / "result.json";
  ReplaceFile(file, R"({"state": "COMPLETED"})");
  EXPECT_TRUE(ReadResultJson(file));
  std::filesystem::resize_file(file, uint64_t{1} << 40);  // a sparse file
  EXPECT_EQ("is longer than 67,108,864 bytes", ReadResultText(file).why_not);
  EXPECT_FALSE(ReadResultJson(file));
}

// Opening each of them would wait for a writer.
TEST(AttemptJson, PipesInTheirPlaceAreNotOpened) {
  const ScratchFolder folder;
  for (const char* name : {"result.json", "metrics.jsonl"}) ASSERT_EQ(mkfifo((folder.path() / name).c_str(), 0600), 0);
  EXPECT_FALSE(ReadResultJson(folder.path() / "result.json"));
  EXPECT_EQ(0u, ReadMetricsPart(folder.path(), kWholeFile).bytes);
  EXPECT_TRUE(ReadIterations(folder.path()).empty());
}

TEST(MetricsLines, AreTheWholeObjectsInTheirOrder) {
  const ScratchFolder folder;
  const std::filesystem::path file = folder.path() / "metrics.jsonl";
  ReplaceFile(file, "{\"iteration\":1}\n7\n\n{torn\n" + std::string(100000, '[') + "\n{\"iteration\":2}\n{\"iteration\":3}");
  std::vector<uint64_t> found;
  ForEachIteration(file, [&](const Iteration& line) { found.push_back(line.iteration.value()); });
  EXPECT_THAT(found, testing::ElementsAre(1, 2)) << "the last one has no end";
  ForEachIteration(folder.path() / "none", [](const Iteration&) { FAIL(); });
}

}  // namespace
}  // namespace backplane
