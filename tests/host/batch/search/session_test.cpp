// Parts of a search that must not change between two sessions.
#include <gmock/gmock.h>

#include <fstream>

#include "search/search_session.hpp"

namespace backplane {
namespace {

using nlohmann::json;
using testing::HasSubstr;

json Open() {
  return {{"op", "open"},
          {"name", "walk"},
          {"method", "tpe"},
          {"seed", 7},
          {"metric", "eval/return"},
          {"direction", "maximize"},
          {"pruner", {{"type", "none"}}},
          {"space", {{"learner.options.lr", {{"uniform", {0, 1}}}}}}};
}

TEST(SearchSessionTest, ReportsChangesOfASearch) {
  json now = Open();
  EXPECT_EQ(WhatChanged(Open(), now), "");
  now.erase("direction");
  EXPECT_EQ(WhatChanged(Open(), now), "") << "the recorded direction was the metric's default";
  now["method"] = "gp";
  now["space"]["learner.options.lr"]["uniform"] = {0, 2};
  EXPECT_THAT(WhatChanged(Open(), now), HasSubstr("method was \"tpe\", is \"gp\"; space was"));
  json down = Open();
  down["direction"] = "minimize";
  EXPECT_EQ(WhatChanged(Open(), down), "direction was \"maximize\", is \"minimize\"");
}

TEST(SearchSessionTest, RepeatsOnlyMessagesAfterTheLastOpen) {
  const std::string file = testing::TempDir() + "/search_events.jsonl";
  const auto line = [](int seq, const json& request) {
    return json{{"v", 1},
                {"seq", seq},
                {"t", 1.0},
                {"boot_id", "b"},
                {"kind", "search.message"},
                {"request", request},
                {"reply", json::object()}}
               .dump() +
           "\n";
  };
  std::ofstream(file) << line(1, Open()) << line(2, {{"op", "ask"}}) << line(3, Open()) << line(4, {{"op", "adopt"}})
                      << R"({"v":1,"seq":5,"t":1,"boot_id":"b","kind":"session.end","why":"done"})"
                      << "\n"
                      << line(6, {{"op", "ask"}}) << "{\"v\":1,\"seq\":7,\"kind\":\"search.mess";
  const std::vector<SearchMessage> messages = SearchMessagesOf(file);
  ASSERT_EQ(messages.size(), 3u);
  EXPECT_EQ(messages[0].request["op"], "open");
  EXPECT_EQ(messages[1].request["op"], "adopt");
  EXPECT_EQ(messages[2].request["op"], "ask");
}

}  // namespace
}  // namespace backplane
