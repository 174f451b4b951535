// The tree of an expression: its parser and its evaluation.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "expression/expression.hpp"

namespace backplane {

struct Expression::Term {
  enum class Kind { kValue = 1, kPath, kList, kCall, kNegate, kNot, kBinary };
  Kind kind = Kind::kValue;
  size_t offset = 0;
  nlohmann::json value;  // of kValue
  std::string name;      // path, function or operator
  std::vector<Term> args;
  int depth = 1;  // of the tree that it is the root of
};

// Throws NoValue: a function, operator or path that has no value here.
nlohmann::json Evaluate(const Expression::Term& term, const Expression::Lookup& lookup);

class ExpressionParser {
 public:
  // `of_measures`: see Expression::OfMeasures.
  ExpressionParser(std::string_view text, bool of_measures)
      : text_(text), joins_(of_measures ? "./@" : "."), of_measures_(of_measures) {}
  // Throws NoValue at the place of a syntax error.
  std::shared_ptr<const Expression::Term> Parse();
  const std::vector<std::pair<size_t, std::string>>& references() const { return references_; }

 private:
  using Term = Expression::Term;
  Term Or();
  Term And();
  Term Not();
  Term Comparison();
  Term Sum();
  Term Product();
  Term Unary();
  Term Primary();
  Term Number();
  Term Text();
  Term Name();
  std::string_view TakeName();
  Term Goal(size_t offset, const std::string& function);
  std::vector<Term> List(char close);

  void SkipBlanks();
  bool TakeSymbol(std::string_view symbol);
  bool TakeWord(std::string_view word);
  std::string TakeOneOf(std::initializer_list<std::string_view> symbols);
  // Makes `operand` the last one of `term`. Throws NoValue if the tree becomes too deep for recursive functions.
  Term Within(Term term, Term operand) const;
  Term WithList(Term term, char close);
  Term Binary(std::string name, size_t offset, Term left, Term right) const;
  Term One(Term::Kind kind, size_t offset, Term operand) const;
  [[noreturn]] void Fail(size_t offset, const std::string& why) const;
  std::string Rest() const;

  std::string_view text_, joins_;  // joins_: characters allowed between two parts of a name
  bool of_measures_;
  size_t at_ = 0;
  int depth_ = 0;
  std::vector<std::pair<size_t, std::string>> references_;
};

}  // namespace backplane
