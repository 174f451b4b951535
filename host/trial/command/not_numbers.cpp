#include "command/not_numbers.hpp"

#include <fmt/format.h>

#include "base/bounded.hpp"
#include "base/printable.hpp"

namespace backplane {
namespace {

constexpr size_t kMostWarned = 10, kShownWarnedName = 64, kShownValue = 80;

}  // namespace

void NotNumbers::Add(const std::string& name, std::string_view found) {
  if (first_.size() < kMostWarned) first_.try_emplace(name, Printable(Bounded(found, kShownValue)));
}

std::vector<std::string> NotNumbers::Warnings() const {
  std::vector<std::string> all;
  for (const auto& [name, found] : first_)
    all.push_back(fmt::format("metric '{}': expected numbers; other values are ignored\nthe first one: {}",
                              Printable(name, kShownWarnedName), found));
  return all;
}

}  // namespace backplane
