#include "record/fields.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

namespace backplane {
namespace {

struct Part {
  std::string name;
  uint64_t bytes = 0;

  static void Fields(auto& self, auto&& visit) {
    visit("name", self.name);
    visit("bytes", self.bytes);
  }
};

struct Whole {
  int32_t version = 0;
  double seconds = 0;
  bool done = false;
  std::optional<std::string> why;
  std::vector<Part> parts;
  std::map<std::string, double> measures;
  nlohmann::json other;

  static void Fields(auto& self, auto&& visit) {
    visit("version", self.version);
    visit("seconds", self.seconds);
    visit("done", self.done);
    visit("why", self.why);
    visit("parts", self.parts);
    visit("measures", self.measures);
    visit("other", self.other);
  }
};

const char* const kText =
    R"({"done":true,"measures":{"sps":2.5},"other":[1,"x"],"parts":[{"bytes":7,"name":"rows"}],"seconds":1.5,"version":-3})";

std::string ErrorOf(const std::string& json) {
  try {
    RecordFromJson<Whole>(nlohmann::json::parse(json));
  } catch (const RecordError& error) {
    return error.what();
  }
  return "";
}

std::string With(const std::string& key, const std::string& value) {
  nlohmann::json json = nlohmann::json::parse(kText);
  json[key] = nlohmann::json::parse(value);
  return json.dump();
}

// A value from a plugin may have any depth, and nlohmann's recursive writer would overflow the stack.
TEST(RecordFields, MisfitOfAnyDepthIsAnError) {
  nlohmann::json deep = 1;
  for (int i = 0; i < 10'000; ++i) {
    nlohmann::json list = nlohmann::json::array();
    list.push_back(std::move(deep));
    deep = std::move(list);
  }
  nlohmann::json json = nlohmann::json::parse(kText);
  json["done"] = std::move(deep);
  try {
    RecordFromJson<Whole>(json);
    ADD_FAILURE();
  } catch (const RecordError& error) {
    EXPECT_STREQ("\"done\": expected true or false, got a list", error.what());
  }
}

TEST(RecordFields, ReadTheirOwnText) {
  const Whole whole = RecordFromJson<Whole>(nlohmann::json::parse(kText));
  EXPECT_EQ(-3, whole.version);
  EXPECT_EQ(1.5, whole.seconds);
  EXPECT_TRUE(whole.done);
  EXPECT_FALSE(whole.why);
  ASSERT_EQ(1u, whole.parts.size());
  EXPECT_EQ("rows", whole.parts[0].name);
  EXPECT_EQ(7u, whole.parts[0].bytes);
  EXPECT_EQ(2.5, whole.measures.at("sps"));
  EXPECT_EQ(kText, ToJson(whole).dump());
}

TEST(RecordFields, OptionalIsOmittedAndMayBeNull) {
  EXPECT_FALSE(RecordFromJson<Whole>(nlohmann::json::parse(With("why", "null"))).why);
  EXPECT_EQ("full", RecordFromJson<Whole>(nlohmann::json::parse(With("why", R"("full")"))).why);
}

TEST(RecordFields, NaNIsNull) {
  Whole whole = RecordFromJson<Whole>(nlohmann::json::parse(kText));
  whole.seconds = std::nan("");
  EXPECT_TRUE(ToJson(whole).at("seconds").is_null());
  EXPECT_TRUE(std::isnan(RecordFromJson<Whole>(ToJson(whole)).seconds));
}

TEST(RecordFields, SkipKeysOfALaterVersion) { EXPECT_EQ("", ErrorOf(With("colour", R"("red")"))); }

TEST(RecordFields, MisfitNamesPlaceAndBothValues) {
  EXPECT_EQ(R"("version": expected a whole number, got 3000000000)", ErrorOf(With("version", "3000000000")));
  EXPECT_EQ(R"("version": expected a whole number, got 1.5)", ErrorOf(With("version", "1.5")));
  EXPECT_EQ(R"("parts[0].bytes": expected a whole number from 0 on, got -1)",
            ErrorOf(With("parts", R"([{"name": "rows", "bytes": -1}])")));
  EXPECT_EQ(R"("parts[1].bytes" is missing)", ErrorOf(With("parts", R"([{"name": "a", "bytes": 1}, {"name": "b"}])")));
  EXPECT_EQ(R"("parts": expected a list, got {})", ErrorOf(With("parts", "{}")));
  EXPECT_EQ(R"("measures.sps": expected a number, got "fast")", ErrorOf(With("measures", R"({"sps": "fast"})")));
  EXPECT_EQ(R"("why": expected a text, got 7)", ErrorOf(With("why", "7")));
  EXPECT_EQ("expected an object, got []", ErrorOf("[]"));
}

enum class Fruit { kApple = 1, kPear };
constexpr auto WordsOf(Fruit) { return std::to_array<WordOf<Fruit>>({{Fruit::kApple, "apple"}, {Fruit::kPear, "pear"}}); }

struct Basket {
  std::optional<Fruit> best;
  std::optional<double> price, weight;
  std::string label = "none";
  std::vector<std::pair<std::string, int>> counts;
  std::array<uint8_t, 2> size{};
  bool sold = false;

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("best", self.best);
    visit("price", NullIfAbsent(self.price));
    visit("weight", NaNIfNull(self.weight));
    visit("label", DefaultIfMissing(self.label));
    visit("counts", DefaultIfMissing(self.counts));
    visit("size", DefaultIfMissing(self.size));
    visit("sold", LeftOutIfEmpty(self.sold));
  }
};

std::string Again(const std::string& text) {
  using nlohmann::ordered_json;
  return ToJson<ordered_json>(RecordFromJson<Basket>(ordered_json::parse(text))).dump();
}

TEST(RecordFields, DeclareHowTheyMayBeAbsent) {
  EXPECT_EQ(R"({"price":null,"label":"none","counts":{},"size":[0,0]})", Again("{}"));
  const char* const kAll =
      R"({"best":"pear","price":2.5,"weight":null,"label":"x","counts":{"b":1,"a":2},"size":[3,4],"sold":true})";
  EXPECT_EQ(kAll, Again(kAll)) << "in the order of the struct, and of the file within";
}

TEST(RecordFields, UnknownWordOfAnEnumListsThem) {
  EXPECT_EQ("pear", std::string(Word(Fruit::kPear)));
  EXPECT_EQ(Fruit::kApple, FromWord<Fruit>("apple"));
  try {
    Again(R"({"best":"plum"})");
    FAIL();
  } catch (const RecordError& error) {
    EXPECT_STREQ(R"("best": expected one of apple, pear, got "plum")", error.what());
  }
}

TEST(RecordFields, ReadTolerantlyEachCountsForItself) {
  const auto basket = ReadTolerantly<Basket>(
      nlohmann::json::parse(R"({"best":"plum","price":"dear","label":7,"counts":{"a":1,"b":"x"},"size":[1,300],"sold":true})"));
  EXPECT_FALSE(basket.best);
  EXPECT_FALSE(basket.price);
  EXPECT_EQ("none", basket.label);
  ASSERT_EQ(1u, basket.counts.size());
  EXPECT_EQ("a", basket.counts[0].first);
  EXPECT_EQ(0, basket.size[0]) << "whole or not at all";
  EXPECT_TRUE(basket.sold);
  EXPECT_EQ("none", ReadTolerantly<Basket>(nlohmann::json()).label);
}

TEST(RecordFields, OverwriteOrFillInAnObject) {
  const Part part{"rows", 7};
  nlohmann::json over = {{"name", "env"}, {"else", 1}}, under = over;
  Overwrite(part, &over);
  FillIn(part, &under);
  EXPECT_EQ(R"({"bytes":7,"else":1,"name":"rows"})", over.dump());
  EXPECT_EQ(R"({"bytes":7,"else":1,"name":"env"})", under.dump());
}

}  // namespace
}  // namespace backplane
