// Invalid replies of a side process, each next to a valid one.
#include "search/check_reply.hpp"

#include <gmock/gmock.h>

namespace backplane {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

const json kAsk = {{"op", "ask"}};

SearchRecord Known() {
  SearchRecord known;
  known.open = {{"space",
                 {{"lr", {{"log_uniform", {1e-5, 1e-2}}}},
                  {"epochs", {{"int", {2, 10}}, {"step", 4}}},
                  {"batch", {{"log_int", {32, 1024}}}},
                  {"far", {{"int", {-9'000'000'000'000'000'000, 9'000'000'000'000'000'000}}, {"step", 5}}},
                  {"odd", {{"int", {9'007'199'254'740'993, 9'007'199'254'740'999}}, {"step", 2}}},
                  {"sizes", {{"choice", {{64}, {64, 64}, "auto", nullptr, 2}}}}}}};
  known.suggestions[0].state = "complete";
  return known;
}

json Good() {
  return {{"number", 1},
          {"params",
           {{"lr", 1e-3}, {"epochs", 6}, {"batch", 64}, {"far", 5}, {"odd", 9'007'199'254'740'995}, {"sizes", {64, 64}}}}};
}

// The valid reply with a different value for a path.
std::string ErrorWith(const char* path, const json& value) {
  json reply = Good();
  reply["params"][path] = value;
  return ReplyError(kAsk, reply, Known());
}

TEST(ReplyError, AcceptsValuesOfTheSpace) {
  EXPECT_EQ(ReplyError(kAsk, Good(), Known()), "");
  for (const double end : {1e-5, 1e-2, 1.0000000000000002e-2}) EXPECT_EQ(ErrorWith("lr", end), "") << end;
  for (const int end : {2, 6, 10}) EXPECT_EQ(ErrorWith("epochs", end), "") << end;
  EXPECT_EQ(ErrorWith("far", 9'000'000'000'000'000'000), "") << "the range exceeds int64_t";
  for (const json& choice : {json{64}, json{64, 64}, json("auto"), json(), json(2)}) EXPECT_EQ(ErrorWith("sizes", choice), "");
}

TEST(ReplyError, RejectsValuesOutsideTheSpace) {
  EXPECT_EQ(ErrorWith("lr", 0.02), R"(expected a value of lr from {"log_uniform":[1e-05,0.01]}, got 0.02)");
  EXPECT_THAT(ErrorWith("lr", -1e-3), HasSubstr("got -0.001"));
  EXPECT_THAT(ErrorWith("lr", "0.001"), HasSubstr(R"(got "0.001")"));
  EXPECT_THAT(ErrorWith("lr", json()), HasSubstr("got null"));
  EXPECT_THAT(ErrorWith("epochs", 11), HasSubstr("got 11"));
  EXPECT_THAT(ErrorWith("epochs", 5), HasSubstr("got 5")) << "between two steps";
  EXPECT_THAT(ErrorWith("odd", 9'007'199'254'740'996), HasSubstr("got 9007199254740996")) << "the lower bound is not a double";
  EXPECT_THAT(ErrorWith("epochs", 6.5), HasSubstr("got 6.5"));
  EXPECT_THAT(ErrorWith("batch", true), HasSubstr("got true"));
  EXPECT_THAT(ErrorWith("sizes", json{64, 128}), HasSubstr("got [64,128]"));
  EXPECT_THAT(ErrorWith("sizes", std::string(1 << 20, 'x')).size(), testing::Lt(400u));
}

TEST(ReplyError, RejectsPathsThatAreMissingOrNotInTheSpace) {
  json reply = Good();
  reply["params"].erase("lr");
  EXPECT_EQ(ReplyError(kAsk, reply, Known()), "it suggests no value for lr");
  EXPECT_EQ(ErrorWith("seed\n", 1), R"(it suggests a value for seed\n, which is not in sweep.search.space)");
  for (const json& params : {json(), json::array(), json(3)}) {
    reply["params"] = params;
    EXPECT_THAT(ReplyError(kAsk, reply, Known()), HasSubstr("expected an object as \"params\"")) << params;
  }
  reply.erase("params");
  EXPECT_THAT(ReplyError(kAsk, reply, Known()), HasSubstr("expected an object as \"params\", got null"));
}

TEST(ReplyError, RejectsMalformedAndRepeatedNumbers) {
  json reply = Good();
  reply["number"] = 0;
  EXPECT_EQ(ReplyError(kAsk, reply, Known()), "expected an unused number as \"number\", got 0");
  for (const json& number : {json(-1), json(1.5), json("1"), json(), json{1}}) {
    reply["number"] = number;
    EXPECT_THAT(ReplyError(kAsk, reply, Known()), HasSubstr("expected a number from 0 on")) << number;
  }
  reply.erase("number");
  EXPECT_THAT(ReplyError(kAsk, reply, Known()), HasSubstr("got none"));
}

TEST(ReplyError, RejectsOtherRepliesOfTheWrongType) {
  EXPECT_EQ(ReplyError({{"op", "open"}}, {{"version", "4.1"}}, {}), "");
  EXPECT_THAT(ReplyError({{"op", "open"}}, {{"version", 4}}, {}), HasSubstr("got 4"));
  EXPECT_EQ(ReplyError({{"op", "report"}}, {{"prune", false}}, Known()), "");
  for (const json& prune : {json("no"), json(0), json()})
    EXPECT_THAT(ReplyError({{"op", "report"}}, {{"prune", prune}}, Known()), HasSubstr("expected true or false")) << prune;
  EXPECT_THAT(ReplyError({{"op", "report"}}, json::object(), Known()), HasSubstr("got none"));
  EXPECT_EQ(ReplyError({{"op", "adopt"}}, {{"number", 3}}, {}, 3), "");
  EXPECT_EQ(ReplyError({{"op", "adopt"}}, {{"number", 4}}, {}, 3), R"(expected 3 as "number", got 4)");
}

}  // namespace
}  // namespace backplane
