#include <gmock/gmock.h>

#include <cmath>

#include "base/json_text.hpp"
#include "render/document.hpp"
#include "sample_document.hpp"

namespace backplane {
namespace {

using ::testing::HasSubstr;

std::string Renderings(const Document& document) {
  return RenderText(document) + RenderMarkdown(document) + RenderHtml(document) +
         RenderCsv(std::get<Table>(document.sections[0].blocks[0]));
}

std::string ErrorOf(const nlohmann::json& json) {
  try {
    DocumentFromJson(json);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

TEST(DocumentJson, AReportReadBackIsRenderedToTheSameBytes) {
  for (const Document& document : {SmallDocument(), LargeDocument(8)}) {
    const std::string text = JsonText(ToJson(document));
    const Document back = DocumentFromJson(nlohmann::json::parse(text));
    EXPECT_EQ(Renderings(document), Renderings(back));
    EXPECT_EQ(text, JsonText(ToJson(back)));
  }
}

TEST(DocumentJson, AChangeOfASweptPathIsKeptAndRenderedAsOneOfTheSweep) {
  Finding finding;
  finding.fixes = {{"rollout.num_env_runners", 4, 2, true}};
  Document document;
  document.sections = {{"findings", "Findings", {FindingList{{{finding}, {}}}}}};
  const Document back = DocumentFromJson(ToJson(document));
  for (const std::string& text : {RenderText(back), RenderMarkdown(back), RenderHtml(back)}) {
    EXPECT_THAT(text, testing::AllOf(HasSubstr("in sweep"), HasSubstr("--sweep rollout.num_env_runners=4,2")));
  }
}

TEST(DocumentJson, AChangeOfANamedPointIsTriedAtThatPoint) {
  Finding finding;
  finding.fixes = {{"learner.options.hidden", nlohmann::json{64}, nlohmann::json{32}, true, "slow one"}};
  Document document;
  document.sections = {{"findings", "Findings", {FindingList{{{finding}, {}}}}}};
  const Document back = DocumentFromJson(ToJson(document));
  for (const std::string& text : {RenderText(back), RenderMarkdown(back)}) {
    EXPECT_THAT(text,
                testing::AllOf(HasSubstr("in sweep of slow one"), HasSubstr("--sweep 'slow one:learner.options.hidden=[32]'")));
  }
}

TEST(DocumentJson, EveryKindOfBlockIsThere) {
  std::vector<std::string> kinds;
  const nlohmann::json json = ToJson(SmallDocument());
  for (const nlohmann::json& section : json["sections"]) {
    for (const nlohmann::json& block : section["blocks"]) {
      kinds.push_back(block["block"]);
    }
  }
  EXPECT_THAT(kinds, testing::ElementsAre("table", "figure", "findings", "paragraph", "list", "facts", "commands", "code"));
}

TEST(DocumentJson, RowsAreObjectsAndNumbersSayWhatIsKnownOfThem) {
  const nlohmann::json rows = ToJson(SmallDocument())["sections"][0]["blocks"][0]["rows"];
  EXPECT_EQ(R"({"memory":{"n":1,"value":300.26},"setting":"1 x 1",)"
            R"("sps":{"high":1020.0,"low":980.0,"n":3,"of":"seeds","sd":10.0,"value":1000.0}})",
            JsonText(rows[0]));
  EXPECT_EQ(R"({"n":1,"nonfinite":true,"value":null})", JsonText(rows[1]["memory"]));
  EXPECT_FALSE(rows[2].contains("sps")) << "not measured";
}

TEST(DocumentJson, AnotherSchemaIsRefused) {
  nlohmann::json json = ToJson(SmallDocument());
  json["schema_version"] = 2;
  EXPECT_EQ("report: schema_version should be 1, found 2", ErrorOf(json));
}

TEST(DocumentJson, WhatIsWrongIsNamedByItsPlace) {
  nlohmann::json json = ToJson(SmallDocument());
  json["sections"][2]["blocks"][0].erase("text");
  EXPECT_EQ("report: sections[2].blocks[0].text is missing", ErrorOf(json));

  json = ToJson(SmallDocument());
  json["sections"][0]["blocks"][0]["rows"][0]["sps"]["value"] = "fast";
  EXPECT_EQ("report: sections[0].blocks[0].rows[0].sps.value should be a number, found \"fast\"", ErrorOf(json));

  json = ToJson(SmallDocument());
  json["sections"][0]["blocks"][0]["emphasised"] = {3};
  EXPECT_THAT(ErrorOf(json), HasSubstr("sections[0].blocks[0].emphasised should be indices of the table's rows, found [3]"));

  json = ToJson(SmallDocument());
  json["sections"][1]["blocks"][0]["diagnosis"]["findings"][0]["severity"] = "dire";
  EXPECT_THAT(ErrorOf(json), HasSubstr("severity should be info, warning or serious, found \"dire\""));

  json = ToJson(SmallDocument());
  json["sections"][1]["blocks"][0]["block"] = "song";
  EXPECT_THAT(ErrorOf(json), HasSubstr("sections[1].blocks[0].block should be paragraph, list,"));
  EXPECT_THAT(ErrorOf(nlohmann::json::array()), HasSubstr("the file should be an object, found array"));
}

TEST(DocumentJson, EvidenceWithoutAThresholdNamesNone) {
  Finding finding;
  finding.evidence = {{"power", 220, std::nullopt, "W", ""}};
  Document document;
  document.sections = {{"findings", "Findings", {FindingList{{{finding}, {}}}}}};
  const std::string text = RenderText(DocumentFromJson(ToJson(document)));
  EXPECT_THAT(text, ::testing::AllOf(HasSubstr("power: 220 W"), ::testing::Not(HasSubstr("threshold"))));
}

}  // namespace
}  // namespace backplane
