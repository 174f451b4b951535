#include <gmock/gmock.h>

#include <locale>
#include <sstream>

#include "base/text_columns.hpp"
#include "render/document.hpp"
#include "sample_document.hpp"
#include "text/text_table.hpp"

namespace backplane {
namespace {

using testing::HasSubstr;
using testing::Not;

size_t WidestLine(const std::string& text) {
  size_t widest = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    widest = std::max(widest, Columns(line));
  }
  return widest;
}

TEST(RenderText, Golden) {
  EXPECT_EQ(R"(2 x 1 is the fastest: 1,950 steps/s.

Parallel efficiency of a small experiment
=========================================
2026-01-02 03:04 UTC

- It uses 97.5 % of what its rows could give.


Results
-------

  setting     steps/s  why
  -------  ----------  ----------------------
  1 x 1    1,000 ± 20
* 2 x 1    1,950 ± 32
  4 | 1                FAILED (oom), "killed"

  ±: 95 % confidence interval of the mean. n = 3 seeds.

  Baseline: 1 x 1.

[figure speed.png] Speed over parallelism


Diagnosis
---------

[warning] Learning takes 64.2 % of the time
  rule        update_bound
  seen in     1 x 1, 2 x 1
  evidence    phase/update: 64.2 % (threshold 50 %), mean after the first iteration, 12 samples
  cause       Each iteration passes over its batch many times in small pieces.
  change      learner.options.num_epochs: 10 -> 5
              backplane run FILE --set learner.options.num_epochs=5
  or          learner.options.minibatch_size: 128 -> 512
              backplane run FILE --set learner.options.minibatch_size=512
  expected    SPS rises; phase/update falls.
  confidence  high: the share is far above the threshold

Rules that stayed silent:
- gpu_idle: no GPU was measured


How it was measured
-------------------

Each setting ran three times.

- one machine
- one build

processor  2 cores
kernel     6.1

Again:
    backplane run small.yaml

small.yaml

    experiment: small
    seed: 0


Files next to this report
-------------------------

- recommended_balanced.yaml
)",
            RenderText(SmallDocument()));
}

TEST(RenderText, NoLineIsWiderThan100Columns) {
  EXPECT_LE(WidestLine(RenderText(LargeDocument(24))), 100u);

  Document document = SmallDocument();
  const std::string word(250, 'w');
  Table table{"t", word, {{"name", word}, {"why", word}, {"sps", "steps/s"}}, {}, {}, {word}};
  table.rows = {{word, word, Number{.value = 1e8}},
                {"a name of sixty characters with spaces in it, as people write", word, {}}};
  document.title = word;
  document.verdict = {word, word};
  document.sections = {{"s", word, {Paragraph{word}, BulletList{{word}}, FactList{{{word, word}}}, table, FigureUse{word}}}};
  document.attachments = {{word, ""}};
  EXPECT_LE(WidestLine(RenderText(document)), 100u);
}

TEST(RenderText, EveryPartOfASplitTableNamesItsRows) {
  Table table{"t", "Changes", {{"point", "point"}, {"measure", "measure"}}, {}, {}, {}};
  table.key_columns = 2;
  std::vector<Cell> row = {"before", "success"};
  for (int i = 0; i < 12; ++i) {
    const std::string name = "a_number_" + std::to_string(i);
    table.columns.push_back({name, name});
    row.emplace_back(Number{.value = 1e6 + i});
  }
  table.rows = {row};
  Document document = SmallDocument();
  document.sections = {{"s", "Section", {table}}};
  const std::string text = RenderText(document);
  size_t parts = 0, named = 0;
  for (size_t at = text.find("a_number_"); at != std::string::npos; at = text.find("a_number_", text.find('\n', at))) ++parts;
  for (size_t at = text.find("before  success"); at != std::string::npos; at = text.find("before  success", at + 1)) ++named;
  EXPECT_GT(parts, 1u);
  EXPECT_EQ(parts, named) << text;
}

TEST(RenderText, ATableThatIsTooWideLosesNothing) {
  const std::string text = RenderText(LargeDocument(24));
  EXPECT_THAT(text, HasSubstr("num_env_runners=4 num_envs_per_env_runner=2: 2 of 3 seeds FAILED (oom): the process"));
  EXPECT_THAT(text, HasSubstr("-9.50 ± 4.20 (n 57)"));
  EXPECT_THAT(text, HasSubstr("n in brackets: return"));
}

TEST(RenderText, ColumnsThatAreNotForTextAreLeftOut) {
  EXPECT_THAT(RenderText(LargeDocument(8)), Not(HasSubstr("core efficiency")));
}

TEST(RenderText, ALongCommandStaysOneCommand) {
  EXPECT_THAT(RenderText(LargeDocument(8)), HasSubstr("train_batch_size=4000 \\\n      --set 'env.options.name=a b' --out"));
}

TEST(RenderText, ControlCharactersDoNotReachATerminal) {
  Document document = SmallDocument();
  document.title = "a\x1b[31m\nb\tc";
  EXPECT_THAT(RenderText(document), HasSubstr("\na [31m b c\n==========\n"));
}

struct Commas : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

TEST(RenderText, NoRenderingDependsOnTheLocale) {
  const auto all = [] {
    const Document document = LargeDocument(8);
    return RenderText(document) + RenderMarkdown(document) + RenderHtml(document) + ToJson(document).dump() +
           RenderCsv(std::get<Table>(document.sections[0].blocks[0]));
  };
  const std::string expected = all();
  const std::locale before = std::locale::global(std::locale(std::locale::classic(), new Commas));
  const std::string actual = all();
  std::locale::global(before);
  EXPECT_EQ(expected, actual);
}

TEST(TextTable, OneSeedHasNoPlural) {
  Table table{"t", "", {{"setting", "setting", "", ""}, {"sps", "steps/s", "", ""}}, {}, {}, {}};
  table.rows = {{"1 x 1", Number{.value = 1000, .n = 1, .of = "seeds"}}};
  EXPECT_NE(FormatTextTable(table, 80).find("n = 1 seed.\n"), std::string::npos) << FormatTextTable(table, 80);
}

TEST(FormatCell, WordsStayUnchangedAndMissingValuesAreEmpty) {
  const Column column{.key = "sps", .title = "steps/s", .digits = 3};
  EXPECT_EQ("1.23", FormatCell(Number{.value = 1.234}, column));
  EXPECT_EQ("a <b>", FormatCell("a <b>", column));
  EXPECT_EQ("", FormatCell(std::monostate{}, column));
}

}  // namespace
}  // namespace backplane
