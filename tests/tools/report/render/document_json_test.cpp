#include <gmock/gmock.h>

#include <cmath>

#include "base/json_text.hpp"
#include "render/document.hpp"
#include "sample_document.hpp"

namespace backplane {
namespace {

using ::testing::HasSubstr;

TEST(DocumentJson, AChangeOfASweptPathIsRenderedAsOneOfTheSweep) {
  Finding finding;
  finding.fixes = {{"rollout.num_env_runners", 4, 2, true}};
  Document document;
  document.sections = {{"findings", "Findings", {FindingList{{{finding}, {}}}}}};
  for (const std::string& text : {RenderText(document), RenderMarkdown(document), RenderHtml(document)}) {
    EXPECT_THAT(text, testing::AllOf(HasSubstr("in sweep"), HasSubstr("--sweep rollout.num_env_runners=4,2")));
  }
}

TEST(DocumentJson, AChangeOfANamedPointIsTriedAtThatPoint) {
  Finding finding;
  finding.fixes = {{"learner.options.hidden", nlohmann::json{64}, nlohmann::json{32}, true, "slow one"}};
  Document document;
  document.sections = {{"findings", "Findings", {FindingList{{{finding}, {}}}}}};
  for (const std::string& text : {RenderText(document), RenderMarkdown(document)}) {
    EXPECT_THAT(text,
                testing::AllOf(HasSubstr("in sweep of slow one"), HasSubstr("--sweep 'slow one:learner.options.hidden=[32]'")));
  }
}

TEST(DocumentJson, AProposalCanBeReadBack) {
  Finding finding;
  finding.id = "update_bound";
  finding.title = "Updates take long";
  finding.fixes = {{"learner.options.epochs", 4, 2, true, "slow", {{"learner.options.parts", 8}}, "backplane run"}};
  Document document;
  document.sections = {{"findings", "Findings", {FindingList{{{finding}, {}}}}}};
  const nlohmann::json written = ToJson(document)["sections"][0]["blocks"][0]["diagnosis"]["findings"][0];
  const Proposal proposal = RecordFromJson<Proposal>(nlohmann::json::parse(written.dump()));
  EXPECT_EQ("update_bound", proposal.id);
  EXPECT_EQ("Updates take long", proposal.title);
  ASSERT_EQ(1u, proposal.fixes.size());
  const Fix& fix = proposal.fixes[0];
  EXPECT_EQ("learner.options.epochs", fix.path);
  EXPECT_EQ(4, fix.from);
  EXPECT_EQ(2, fix.to);
  EXPECT_TRUE(fix.swept);
  EXPECT_EQ("slow", fix.point);
  EXPECT_EQ(8, fix.also.at("learner.options.parts"));
  EXPECT_EQ("backplane run", fix.command);
}

TEST(DocumentJson, HasEveryKindOfBlock) {
  std::vector<std::string> kinds;
  const nlohmann::json json = ToJson(SmallDocument());
  for (const nlohmann::json& section : json["sections"]) {
    for (const nlohmann::json& block : section["blocks"]) {
      kinds.push_back(block["block"]);
    }
  }
  EXPECT_THAT(kinds, testing::ElementsAre("table", "figure", "findings", "paragraph", "list", "facts", "commands", "code"));
}

TEST(DocumentJson, RowsAreObjectsWithTheUncertaintyOfNumbers) {
  const nlohmann::json rows = ToJson(SmallDocument())["sections"][0]["blocks"][0]["rows"];
  EXPECT_EQ(R"({"memory":{"n":1,"value":300.26},"setting":"1 x 1",)"
            R"("sps":{"high":1020.0,"low":980.0,"n":3,"of":"seeds","sd":10.0,"value":1000.0}})",
            JsonText(rows[0]));
  EXPECT_EQ(R"({"n":1,"nonfinite":true,"value":null})", JsonText(rows[1]["memory"]));
  EXPECT_FALSE(rows[2].contains("sps")) << "not measured";
}

TEST(DocumentJson, OmitsAMissingThresholdOfEvidence) {
  Finding finding;
  finding.evidence = {{"power", 220, std::nullopt, "W", ""}};
  Document document;
  document.sections = {{"findings", "Findings", {FindingList{{{finding}, {}}}}}};
  const std::string text = RenderText(document);
  EXPECT_THAT(text, ::testing::AllOf(HasSubstr("power: 220 W"), ::testing::Not(HasSubstr("threshold"))));
}

}  // namespace
}  // namespace backplane
