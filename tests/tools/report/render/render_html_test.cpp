#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include "base/scratch_folder.hpp"
#include "render/document.hpp"
#include "sample_document.hpp"

namespace backplane {
namespace {

// A matcher would print the whole page.
bool Contains(const std::string& html, const std::string& part) { return html.find(part) != std::string::npos; }

// A document in which the user set all names.
Document Named(const std::string& name) {
  Document document = SmallDocument();
  document.title = document.made_at = name;
  document.verdict = {name, name};
  document.figures.clear();
  document.attachments = {{name, name}};
  Table table{
      "t", name,  {{name, name, name, name}, {"words", name, "", name}}, {{Number{.value = 1, .n = 2, .of = name}, name}},
      {0}, {name}};
  Finding finding;
  finding.id = finding.title = finding.cause = finding.effect = finding.confidence = name;
  finding.settings = {name};
  finding.evidence = {{name, 1, 2, name, name}};
  finding.fixes = {{name, name, name}};
  document.sections = {{name,
                        name,
                        {table, FindingList{{{finding}, {{name, name}}}}, Paragraph{name}, BulletList{{name}},
                         FactList{{{name, name}}}, CommandList{{{name, name}}}, CodeBlock{name, name, name}}}};
  return document;
}

// The page's tags with the names of their attributes, in order.
std::vector<std::string> TagsOf(const std::string& html) {
  std::vector<std::string> tags;
  const std::regex tag("<(/?[a-z][a-z0-9]*)((?:\\s+[a-z-]+(?:=\"[^\"]*\")?)*)\\s*>"), value("=\"[^\"]*\"");
  for (std::sregex_iterator at(html.begin(), html.end(), tag); at != std::sregex_iterator(); ++at) {
    tags.push_back((*at)[1].str() + std::regex_replace((*at)[2].str(), value, ""));
  }
  return tags;
}

TEST(RenderHtml, NoNameBecomesMarkup) {
  for (const std::string name : {"<script>alert(1)</script>", "\" onclick=\"alert(1)", "' onclick='alert(1)",
                                 "</style></title>&amp;", "<!-- ", "&lt;b&gt;"}) {
    const std::string html = RenderHtml(Named(name));
    const std::string harmless = RenderHtml(Named(std::regex_replace(name, std::regex("[^a-z ]"), "x")));
    EXPECT_EQ(TagsOf(harmless), TagsOf(html)) << name;
    EXPECT_EQ(std::count(harmless.begin(), harmless.end(), '<'), std::count(html.begin(), html.end(), '<')) << name;
  }
  EXPECT_TRUE(Contains(RenderHtml(Named("<b> & \"c\" 'd'")), "&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;"));
}

TEST(RenderHtml, TagsAreClosedInOrder) {
  std::vector<std::string> open;
  for (const std::string& tag : TagsOf(RenderHtml(Named("a")))) {
    const std::string name = tag.substr(0, tag.find(' '));
    if (name[0] == '/') {
      ASSERT_FALSE(open.empty()) << tag;
      ASSERT_EQ(open.back(), name.substr(1));
      open.pop_back();
    } else if (name != "meta" && name != "br" && name != "wbr") {
      open.push_back(name);
    }
  }
  EXPECT_TRUE(open.empty());
}

TEST(RenderHtml, LoadsNoOtherFiles) {
  const std::string html = RenderHtml(LargeDocument(8));
  for (const char* load : {" src=", "@import", "url(h", "<link", "fetch(", "href=\"http"}) {
    EXPECT_FALSE(Contains(html, load)) << load;
  }
  EXPECT_TRUE(Contains(html, "default-src 'none'"));
}

TEST(RenderHtml, TheHeadlineComesFirstAndSectionsInTheirOrder) {
  const std::string html = RenderHtml(SmallDocument());
  EXPECT_LT(html.find("class=\"lead\""), html.find("<h1>"));
  EXPECT_LT(html.find("class=\"verdict\""), html.find("<h2>Results</h2>"));
  EXPECT_LT(html.find("<h2>Results</h2>"), html.find("class=\"finding warning\""));
  EXPECT_TRUE(
      Contains(html, "<title>2 x 1 is the fastest: 1,950 steps/s. · Parallel efficiency of a small experiment</title>"));
  EXPECT_TRUE(Contains(html, "<summary>Rules that stayed silent: 1</summary>"));
}

TEST(RenderHtml, ALongAnswerIsAParagraph) {
  Document document = SmallDocument();
  EXPECT_FALSE(Contains(RenderHtml(document), "class=\"lead long\""));
  document.verdict[0] = std::string(121, 'x');
  EXPECT_TRUE(Contains(RenderHtml(document), "class=\"lead long\""));
}

TEST(RenderHtml, AChangeCanBeCopiedAsACommand) {
  EXPECT_TRUE(Contains(RenderHtml(SmallDocument()), "<code>backplane run FILE --set learner.options.num_epochs=5</code>"));
}

TEST(RenderHtml, NumbersSortAsNumbersAndShowTheirSample) {
  const std::string html = RenderHtml(SmallDocument());
  EXPECT_TRUE(Contains(html,
                       "<td class=\"num\" data-v=\"1950\" title=\"n 3 seeds, 95 % interval 1,918 to 1,982, sd 15.75\">"
                       "1,950 <span class=\"spread\">± 32</span></td>"));
  EXPECT_TRUE(Contains(html, "data-v=\"NaN\">NaN</td>"));
  EXPECT_TRUE(Contains(html, "<tr class=\"emphasised\"><th scope=\"row\"><span>2</span> <span>x</span> <span>1</span></th>"));
  EXPECT_TRUE(Contains(html, "data-first=\"descending\" class=\"num\" title=\"Speed.\">steps/s</th>")) << "up is better";
  EXPECT_TRUE(Contains(html, "data-first=\"ascending\" data-more class=\"num\" title=\"Peak.\">memory (MB)</th>"));
}

TEST(RenderHtml, PathsBreakAtTheirDotsAndNumbersNowhere) {
  Document document = SmallDocument();
  Table table{"t", "", {{"option", "option", "", ""}}, {}, {}, {}};
  table.rows.push_back({std::string("learner.options.num_epochs 0.25")});
  document.sections = {{"s", "S", {std::move(table)}}};
  EXPECT_TRUE(Contains(RenderHtml(document), "<span>learner.<wbr>options.<wbr>num_<wbr>epochs</span> <span>0.25</span>"));
}

TEST(RenderHtml, TheReasonOfAFailureIsBelowItsRow) {
  EXPECT_TRUE(Contains(RenderHtml(LargeDocument(8)),
                       "<tr class=\"more\"><td colspan=\"10\"><span><b>failure:</b> 2 of 3 seeds FAILED (oom): the process"));
}

TEST(RenderHtml, LinksToFilesAreRelativeToThePage) {
  const ScratchFolder root;
  const std::filesystem::path out = root.path() / "a b";
  for (const char* id : {"id1", "id2"}) std::filesystem::create_directories(out / "trials" / id);
  Document document = SmallDocument();
  Table& table = std::get<Table>(document.sections[0].blocks[0]);
  table.columns.push_back({"trials", "trials", "", "", 0, 4, false, (out / "trials").string()});
  table.rows[0].resize(table.columns.size() - 1);
  table.rows[0].emplace_back("id1 id2 id3");
  const std::string html =
      RenderHtml(document, {}, {out / "report", {{"", out / "report/x#.csv"}, {"the trials", out / "plan.jsonl"}}});
  EXPECT_TRUE(Contains(html, "<td><a href=\"../trials/id1/\">id1</a> <a href=\"../trials/id2/\">id2</a> id3</td>"))
      << "a planned trial has no folder";
  EXPECT_TRUE(Contains(html, "<li><a href=\"x%23.csv\">x#.csv</a></li>"));
  EXPECT_TRUE(Contains(html, "<li><a href=\"../plan.jsonl\">plan.jsonl</a> the trials</li>"));
  EXPECT_TRUE(Contains(RenderHtml(document, {}, {root.path() / "elsewhere", {}}), "<a href=\"../a%20b/trials/id1/\">"));
  EXPECT_TRUE(Contains(RenderHtml(document), "<td>id1 id2 id3</td>")) << "without a place there are no links";
}

TEST(RenderHtml, FoldedSectionsAndLiveDataHaveElementsOfTheirOwn) {
  Document document = SmallDocument();
  document.sections[0].folded = true;
  document.live = LivePart{7, "{\"trials\":{\"a\":[\"</script>\",0]}}"};
  const std::string html = RenderHtml(document);
  EXPECT_TRUE(Contains(html, "<details class=\"section\"><summary><h2>Results</h2></summary>"));
  EXPECT_TRUE(Contains(html,
                       "<script type=\"application/json\" id=\"live\" data-every=\"7\">"
                       "{\"trials\":{\"a\":[\"\\u003c/script>\",0]}}</script>"));
}

TEST(RenderHtml, ADrawingIsNextToItsSpecificationAndTheScriptOccursOnce) {
  Drawings drawings;
  drawings.svg["parallel_efficiency_analysis"] = drawings.svg["resource_utilization_analysis"] =
      "<svg><g id=\"a\" clip-path=\"url(#a)\"/></svg>";
  drawings.javascript = "window.vegaEmbed = '</script><!--';";
  Document document = LargeDocument(3);
  document.figures[0].title = "</script><b>";
  const std::string html = RenderHtml(document, drawings);
  EXPECT_TRUE(
      Contains(html, "<g id=\"s-parallel-efficiency-analysis-a\" clip-path=\"url(#s-parallel-efficiency-analysis-a)\"/>"));
  EXPECT_TRUE(Contains(html, "url(#s-resource-utilization-analysis-a)")) << "ids must be unique in the page";
  EXPECT_TRUE(Contains(html, "\\u003c/script>\\u003cb>"));
  EXPECT_FALSE(Contains(html, "</script><b>"));
  const size_t first = html.find("window.vegaEmbed = '<\\/script><\\!--';");
  ASSERT_NE(std::string::npos, first);
  EXPECT_EQ(std::string::npos, html.find("window.vegaEmbed =", first + 1));
}

}  // namespace
}  // namespace backplane
