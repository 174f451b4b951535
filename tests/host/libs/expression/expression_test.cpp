#include "expression/expression.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace backplane {
namespace {

using nlohmann::json;

class ExpressionTest : public ::testing::Test {
 protected:
  // Parses it like a YAML value at column 5 of its line.
  static Node Text(const std::string& text) {
    Node node;
    node.kind = Node::Kind::kScalar;
    node.text = text;
    node.mark = {MakeSource("e.yaml", "", "x: " + std::string(1, ' ') + text, 0), 1, 5};
    return node;
  }

  std::optional<json> Look(const std::string& path, std::string* why_not) const {
    auto found = values_.find(path);
    if (found != values_.end()) return found->second;
    *why_not = "no " + path;
    return std::nullopt;
  }

  json Value(const std::string& text) const {
    Errors errors;
    auto expression = Expression::Parse(Text(text), &errors);
    if (!expression) return "refused: " + errors.Sorted().at(0).message;
    try {
      return expression->Evaluate([this](const std::string& path, std::string* why_not) { return Look(path, why_not); });
    } catch (const NoValue& error) {
      return "column " + std::to_string(expression->At(error.offset).column) + ": " + error.why;
    }
  }

  // "7 message"
  static std::string Refusal(const std::string& text) {
    Errors errors;
    if (Expression::Parse(Text(text), &errors)) return "accepted";
    return std::to_string(errors.Sorted().at(0).column) + " " + errors.Sorted().at(0).message;
  }

  std::map<std::string, json> values_ = {{"a.b", 3}, {"a.c", 0.5}, {"a.name", "ppo"}, {"a.auto", "auto"}, {"a.none", nullptr}};
};

TEST_F(ExpressionTest, NumbersFollowTheUsualOrder) {
  EXPECT_EQ(Value("1 + 2 * 3"), 7);
  EXPECT_EQ(Value("(1 + 2) * 3"), 9);
  EXPECT_EQ(Value("2 - 3 - 4"), -5);
  EXPECT_EQ(Value("64 / 2 / 4"), 8.0);
  EXPECT_EQ(Value("-a.b + 1"), -2);
  EXPECT_EQ(Value("1e3 * a.c"), 500.0);
}

TEST_F(ExpressionTest, DivisionIsExactOrRoundsDown) {
  EXPECT_EQ(Value("7 / 2"), 3.5);
  EXPECT_EQ(Value("7 // 2"), 3);
  EXPECT_EQ(Value("-7 // 2"), -4);
  EXPECT_EQ(Value("-7 % 2"), 1);
  EXPECT_EQ(Value("7 % -2"), -1);
  EXPECT_EQ(Value("(-9223372036854775807 - 1) // 30111320576"),
            -306309118);  // equals Python's result; nothing overflows on the way
  EXPECT_EQ(Value("(-9223372036854775807 - 1) % 30111320576"), 10595036160);
  EXPECT_EQ(Value("7.5 // 2"), 3.0);
  EXPECT_EQ(Value("7.5 % 2"), 1.5);
}

TEST_F(ExpressionTest, WholeNumbersStayExactInTheirRange) {
  EXPECT_EQ(Value("9007199254740993 + 0"), 9007199254740993);
  EXPECT_EQ(Value("9223372036854775807 + 1"), 9223372036854775808.0);
}

TEST_F(ExpressionTest, ConditionsCompareAndCombine) {
  EXPECT_EQ(Value("a.b == 3 and not a.b > 3"), true);
  EXPECT_EQ(Value("1 == 1.0"), true);
  EXPECT_EQ(Value("'a' < \"b\""), true);
  EXPECT_EQ(Value("a.name in ['ars', 'ppo']"), true);
  EXPECT_EQ(Value("a.b not in [1, 2]"), true);
  EXPECT_EQ(Value("a.none == null or a.none > 3"), true);  // the right side is not evaluated
  EXPECT_EQ(Value("a.name == 'ars' and a.missing > 1"), false);
}

TEST_F(ExpressionTest, Functions) {
  EXPECT_EQ(Value("min(3, a.b, 2)"), 2);
  EXPECT_EQ(Value("max(a.b, a.c)"), 3);
  EXPECT_EQ(Value("abs(-4)"), 4);
  EXPECT_EQ(Value("floor(3.7)"), 3);
  EXPECT_EQ(Value("ceil(3.2)"), 4);
  EXPECT_EQ(Value("log2(8)"), 3.0);
}

TEST_F(ExpressionTest, ReportsPlaceAndReasonOfAMissingValue) {
  EXPECT_EQ(Value("1 / (3 - a.b)"), "column 7: 1 / 0: division by zero");
  EXPECT_EQ(Value("2 * a.auto"), "column 9: 'a.auto' is 'auto', not a number");
  EXPECT_EQ(Value("a.b + a.missing"), "column 11: no a.missing");
  EXPECT_EQ(Value("a.name < 3"), "column 12: 'ppo' and 3 cannot be compared with <");
  EXPECT_EQ(Value("not a.b"), "column 9: expected true or false, got 3");
  EXPECT_EQ(Value("1 in 2"), "column 10: expected a list after 'in', got 2");
  EXPECT_EQ(Value("log2(0)"), "column 5: log2 of 0 is undefined");
}

TEST_F(ExpressionTest, RejectsMistakesAtTheirColumn) {
  EXPECT_EQ(Refusal("1 +"), "8 in the expression: expected a value, got the end");
  EXPECT_EQ(Refusal("a.b = 3"), "9 in the expression: expected an operator, got '='");
  EXPECT_EQ(Refusal("(1"), "7 in the expression: expected ')', got the end");
  EXPECT_EQ(Refusal("mim(1)"), "5 in the expression: unknown function 'mim'; did you mean 'min'?");
  EXPECT_EQ(Refusal("floor(1, 2)"), "5 in the expression: floor accepts one value, got 2");
  EXPECT_EQ(Refusal("1 < 2 < 3"), "11 in the expression: comparisons cannot be chained; write 'a < b and b < c'");
  EXPECT_EQ(Refusal("'abc"), "5 in the expression: the text has no closing quote");
  EXPECT_EQ(Refusal("12x"), "5 in the expression: expected a number, got '12x'");
  EXPECT_EQ(Refusal(std::string(500, '(') + "1"), "69 in the expression: it is nested too deeply");
  EXPECT_EQ(Refusal(""), "5 in the expression: expected a value, got the end");
}

TEST_F(ExpressionTest, FilledShowsTheValuesInPlace) {
  Errors errors;
  auto expression = Expression::Parse(Text("64 / (a.b * a.c)"), &errors);
  EXPECT_EQ(expression->Filled([this](const std::string& path, std::string* why_not) { return Look(path, why_not); }),
            "64 / (3 * 0.5)");
  EXPECT_THAT(expression->paths(), ::testing::ElementsAre("a.b", "a.c"));
}

TEST(ExpressionOfMeasures, NamesStepsToAGoal) {
  const auto paths = [](const std::string& text) { return Expression::OfMeasures(text).paths(); };
  const std::vector<std::string> steps = {"steps_to(eval/return, 475)"};
  EXPECT_EQ(paths("steps_to(eval/return,475)"), steps);
  EXPECT_EQ(Expression::OfMeasures(" steps_to( eval/return , 4.75e2 )").text(), steps.front()) << "in one spelling";
  EXPECT_EQ(paths("1000 / steps_to(eval/return, 475) + reached(eval/loss, -0.5)"),
            (std::vector<std::string>{"steps_to(eval/return, 475)", "reached(eval/loss, -0.5)"}));
  const auto filled = [](const std::string& text) {
    return Expression::OfMeasures(text).Filled(
        [](const std::string&, std::string*) { return std::optional(nlohmann::json(7)); });
  };
  EXPECT_EQ(filled("       abc"), "7");
  EXPECT_EQ(filled("   steps_to(a,3)"), "7");
  EXPECT_EQ(filled("abc + steps_to(a,3)"), "7 + steps_to(a,3)") << "in another spelling";
  EXPECT_EQ(filled("1 + steps_to(a, 3) / b"), "1 + 7 / 7");
  for (const char* wrong : {"steps_to(eval/return)", "steps_to(, 3)", "steps_to(a, b)", "steps_to(a, 3", "steps_to(a, 3, 4)"}) {
    try {
      Expression::OfMeasures(wrong);
      ADD_FAILURE() << wrong;
    } catch (const NoValue& error) {
      EXPECT_THAT(error.why, testing::HasSubstr("expected a metric and a number, such as steps_to(eval/return, 475)")) << wrong;
    }
  }
}

TEST(MeasureExpression, NamesHaveReductionsWithNumbers) {
  const Expression half = Expression::OfMeasures("loss/훈련@mean:10% / 2 + a@step:1e6 - b@area");
  EXPECT_THAT(half.paths(), testing::UnorderedElementsAre("loss/훈련@mean:10%", "a@step:1e6", "b@area"));
  const auto four = [](const std::string&, std::string*) { return std::optional(nlohmann::json(4.0)); };
  EXPECT_EQ(2.0, half.Evaluate(four).get<double>());
  EXPECT_EQ(1, Expression::OfMeasures("a@min % 3").Evaluate(four).get<double>());
  EXPECT_THROW(Expression::OfMeasures("a\x9c"), NoValue) << "not UTF-8";
}

}  // namespace
}  // namespace backplane
