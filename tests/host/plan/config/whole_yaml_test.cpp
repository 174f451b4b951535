// Compares the reader with PyYAML on complete and on truncated texts. whole_yaml_check.py checks the table against PyYAML.
#include <fstream>

#include "config_fixture.hpp"
#include "places.hpp"
#include "yaml/path_writer.hpp"
#include "yaml/plain_json.hpp"

namespace backplane {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using WholeYamlTest = ConfigTest;

struct Parsed {
  std::optional<Node> root;
  std::vector<Diagnostic> errors;
};

Parsed Parse(const std::string& text) {
  Errors errors;
  Parsed parsed;
  parsed.root = ParseDocument(text, MakeSource("e.yaml", "", text, 0), &errors);
  parsed.errors = errors.Sorted();
  return parsed;
}

Parsed ParseAsArgument(const std::string& text) {
  Errors errors;
  Parsed parsed;
  parsed.root = ParseArgument(text, MakeArgumentSource("--set", text, 0), &errors);
  parsed.errors = errors.Sorted();
  return parsed;
}

std::vector<json> Table() {
  std::ifstream stream(BACKPLANE_SOURCE_DIR "/tests/host/plan/config/whole_yaml.jsonl");
  std::vector<json> rows;
  for (std::string line; std::getline(stream, line);) rows.push_back(json::parse(line));
  return rows;
}

TEST(WholeYaml, ReadsClosedTextsAsPyYamlDoes) {
  size_t seen = 0;
  for (const json& row : Table()) {
    if (!row.contains("value")) continue;
    ++seen;
    const std::string text = row["text"];
    const Parsed with_break = Parse(text + "\n"), without = Parse(text);
    for (const Parsed* parsed : {&with_break, &without})
      ASSERT_TRUE(parsed->root && parsed->errors.empty()) << text << "\n" << Format(parsed->errors.at(0));
    EXPECT_EQ(PlainJson(*with_break.root), row["value"]) << text;
    EXPECT_EQ(PlainJson(*without.root), row.value("value_without_line_break", row["value"])) << text;
  }
  EXPECT_GT(seen, 50u);
}

// Trailing line breaks, blank lines and comments change the parser's error.
TEST(WholeYaml, ReportsOpeningMarkOfUnclosedTexts) {
  size_t seen = 0;
  for (const json& row : Table()) {
    if (!row.contains("opens")) continue;
    ++seen;
    for (const char* end : {"", "\n", "\n\n", "\n# end\n", "  \n", "\r\n"}) {
      const std::string text = row["text"].get<std::string>() + end;
      const Parsed parsed = Parse(text);
      EXPECT_FALSE(parsed.root) << text;
      ASSERT_EQ(parsed.errors.size(), 1u) << text;
      EXPECT_EQ((json{parsed.errors[0].line, parsed.errors[0].column}), row["opens"]) << text << Format(parsed.errors[0]);
      EXPECT_THAT(parsed.errors[0].message, HasSubstr("expected ")) << text;
    }
  }
  EXPECT_GT(seen, 30u);
}

TEST(WholeYaml, RejectsTextsThatAreWrongWithinTheirMarks) {
  size_t seen = 0;
  for (const json& row : Table()) {
    if (!row.contains("error")) continue;
    ++seen;
    EXPECT_FALSE(Parse(row["text"].get<std::string>() + "\n").errors.empty()) << row["text"];
  }
  EXPECT_GT(seen, 5u);
}

// A file that ends after the head of a block scalar; PyYAML reads an empty text.
TEST(WholeYaml, RejectsBlockScalarWithoutLinesAtTheEnd) {
  for (const char* text : {"a: |", "a: |\n", "a: >\n\n\n", "a: |-\n# end\n", "a: >2\n", "b: 1\na: &x |\n"}) {
    const Parsed parsed = Parse(text);
    ASSERT_EQ(parsed.errors.size(), 1u) << text;
    EXPECT_THAT(parsed.errors[0].message, HasSubstr("expected indented lines after")) << text;
    EXPECT_EQ(parsed.errors[0].line, std::string(text).starts_with("b") ? 2 : 1) << text;
    EXPECT_EQ(parsed.errors[0].column, std::string(text).starts_with("b") ? 7 : 4) << text;
  }
  for (const char* text : {"a: |\nb: 1\n", "a: '|'\n", "a: \"> \"\n", "a: |\n  x\n", "a: >-\n\n  x", "a: |\n  # x"})
    EXPECT_TRUE(Parse(text).errors.empty()) << text;
}

TEST(WholeYaml, ReportsQuoteBeforeADocumentMark) {
  for (const char* text : {"b: 1\na: \"x\n---\nc: 1\n", "b: 1\na: 'x\n...\n"}) {
    const Parsed parsed = Parse(text);
    ASSERT_EQ(parsed.errors.size(), 1u) << text;
    EXPECT_EQ(parsed.errors[0].line, 2) << text;
    EXPECT_EQ(parsed.errors[0].column, 4) << text;
  }
}

TEST(WholeYaml, CountsColumnsBehindAByteOrderMarkAndBeforeWindowsLineEnds) {
  const Parsed parsed = Parse(
      "\xEF\xBB\xBF"
      "a: 1\r\nb: \"x\r\nc: 2\r\n");
  ASSERT_EQ(parsed.errors.size(), 1u);
  EXPECT_EQ(parsed.errors[0].line, 2);
  EXPECT_EQ(parsed.errors[0].column, 4);
  EXPECT_EQ(parsed.errors[0].source_line, "b: \"x");
}

TEST(WholeYaml, ReportsCharacterInsteadOfBracket) {
  const Parsed parsed = Parse("a: {b: [1, 2}\n");
  ASSERT_EQ(parsed.errors.size(), 1u);
  EXPECT_EQ(parsed.errors[0].message, "expected ',' or a closing ']', got '}' in line 1, column 13");
}

TEST_F(WholeYamlTest, ReportsOnlyTheUnclosedQuote) {
  EXPECT_THAT(ErrorsOf(kMinimal + "output:\n  dir: \"out\nseed: 7\nevaluation: {episodes: 3}\n"),
              ElementsAre("6:8 expected a closing \", got the end of the text"));
}

// Places of nulls

TEST(WholeYaml, GivesThePlacesOfNulls) {
  const auto place = [](const std::string& text, const std::string& path) {
    const Parsed parsed = Parse(text);
    const Node* node = parsed.root ? FindPath(*parsed.root, path) : nullptr;
    return node && node->IsNull() ? std::to_string(node->mark.line) + ":" + std::to_string(node->mark.column) : "none";
  };
  EXPECT_EQ(place("a: [b, null, c]\n", "a.1"), "1:8");
  EXPECT_EQ(place("a: [b, ~]\n", "a.1"), "1:8");
  EXPECT_EQ(place("a:\n- b\n- Null\n", "a.1"), "3:3");
  EXPECT_EQ(place("a:\n  NULL\nb: 1\n", "a"), "2:3");
  EXPECT_EQ(place("a: {x: null, y: 1}\n", "a.x"), "1:8");
  EXPECT_EQ(place("a: [b,\nnull]\n", "a.1"), "2:1");
  EXPECT_EQ(place("a: &n null\nb: *n\n", "b"), "1:4");
  // An empty value has no place.
  EXPECT_EQ(place("a:\nb: 1\n", "a"), "1:1");
  EXPECT_EQ(place("a:\nnull: 1\n", "a"), "1:1");
  EXPECT_EQ(place("a:\n-\n- c\n", "a.0"), "2:1");
  EXPECT_EQ(place("a:\n  b:\nc: 1\n", "a.b"), "2:3");
  EXPECT_EQ(place("a: {x: , y: 1}\n", "a.x"), "1:5");
}

// Arguments

TEST(WholeYaml, KeepsHashesOfArguments) {
  const auto text_of = [](const std::string& text) { return ParseAsArgument(text).root.value_or(Node()).text; };
  EXPECT_EQ(text_of("run #3"), "run #3");
  EXPECT_EQ(text_of("#"), "#");
  EXPECT_EQ(text_of("#fff"), "#fff");
  EXPECT_EQ(text_of("a#b"), "a#b");
  EXPECT_EQ(text_of("\"a #b\""), "a #b");
  EXPECT_EQ(text_of("'#'"), "#");
  EXPECT_EQ(text_of(R"("\x01 #01 #02")"), "\x01 #01 #02");
  const Parsed list = ParseAsArgument("[a #1, {b #2: '#3'}]");
  ASSERT_TRUE(list.root);
  EXPECT_EQ(PlainJson(*list.root), json::parse(R"(["a #1", {"b #2": "#3"}])"));
}

TEST(WholeYaml, RejectsUnclosedArguments) {
  for (const auto& [text, column] : std::vector<std::pair<std::string, int>>{
           {"\"a", 1}, {"'a", 1}, {"[1, 2", 1}, {"[1, {a: 2]", 5}, {"  \"a # b", 3}, {"|", 1}, {"[1, 'a]", 5}}) {
    const Parsed parsed = ParseAsArgument(text);
    ASSERT_EQ(parsed.errors.size(), 1u) << text;
    EXPECT_EQ(parsed.errors[0].column, column) << text;
  }
}

// Writing many paths

TEST(PathWriter, WritesAsSetPathDoes) {
  const std::string text = "a: {b: 1}\nl: [{x: 1}, 2]\ns: text\nn:\n";
  const Node start = *Parse(text).root;
  const std::vector<std::string> paths = {"a.b", "a.c",   "a.c.d", "l.0.x", "l.0.y", "l.1",   "l.2", "s.t", "n.a.b",
                                          "new", "new.x", "a",     "a.b",   "a.e.f", "n.a.c", "n",   "n.a"};
  Node by_path = start, by_writer = start;
  PathWriter writer(&by_writer);
  for (int round = 0; round < 60; ++round) {  // exceeds the number of entries without an index
    for (const std::string& path : paths) {
      const std::string name = round % 3 == 0 ? path : path + std::to_string(round);
      Node value;
      value.kind = Node::Kind::kScalar;
      value.text = std::to_string(round);
      EXPECT_EQ(SetPath(&by_path, name, {}, value), writer.Set(name, {}, value)) << name;
      for (const std::string& other : paths)
        EXPECT_EQ(FindPath(by_path, other) != nullptr, writer.Find(other) != nullptr) << other << " after " << name;
    }
    ASSERT_EQ(PlainJson(by_path), PlainJson(by_writer)) << round;
  }
}

}  // namespace
}  // namespace backplane
