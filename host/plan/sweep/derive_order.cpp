#include "sweep/derive_order.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace backplane {
namespace {

class Order {
 public:
  Order(std::vector<Derived>* derived, Errors* errors) : derived_(*derived), errors_(errors), state_(derived->size()) {}

  std::vector<Derived> Sorted() {
    for (size_t i = 0; i < derived_.size(); ++i) Visit(i);
    return std::move(sorted_);
  }

 private:
  enum State { kNew = 0, kOpen, kDone };

  void Visit(size_t i) {
    if (state_[i] == kDone) return;
    if (state_[i] == kOpen) {
      std::string chain;
      for (auto it = std::find(open_.begin(), open_.end(), i); it != open_.end(); ++it) chain += derived_[*it].path + " -> ";
      errors_->Add(derived_[i].mark, fmt::format("derive: the expressions form a cycle: {}{}", chain, derived_[i].path));
      return;
    }
    state_[i] = kOpen;
    open_.push_back(i);
    for (const std::string& path : derived_[i].expression.paths()) {
      for (size_t k = 0; k < derived_.size(); ++k) {
        if (derived_[k].path == path) Visit(k);
      }
    }
    open_.pop_back();
    state_[i] = kDone;
    sorted_.push_back(derived_[i]);
  }

  const std::vector<Derived>& derived_;
  Errors* errors_;
  std::vector<State> state_;
  std::vector<size_t> open_;
  std::vector<Derived> sorted_;
};

}  // namespace

void OrderDerived(std::vector<Derived>* derived, Errors* errors) { *derived = Order(derived, errors).Sorted(); }

}  // namespace backplane
