#include "record/search_record.hpp"

namespace backplane {
namespace {

// What of requests and replies is folded; the rest is for the side process alone.
struct Told {
  std::string op;
  std::optional<uint64_t> number, step;
  std::optional<double> value, at_end;
  std::string state;

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("op", DefaultIfMissing(self.op));
    visit("number", self.number);
    visit("step", self.step);
    visit("value", self.value);
    visit("at_end", self.at_end);
    visit("state", DefaultIfMissing(self.state));
  }
};

struct Answered {
  std::optional<uint64_t> number;
  nlohmann::json params;
  bool prune = false;

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("number", self.number);
    visit("params", DefaultIfMissing(self.params));
    visit("prune", DefaultIfMissing(self.prune));
  }
};

}  // namespace

void SearchRecord::Apply(const SearchMessage& message, double t) {
  const Told told = ReadTolerantly<Told>(message.request);
  if (told.op == "open") {
    open = message.request;
    opened = message.reply;
    return;
  }
  const Answered answered = ReadTolerantly<Answered>(message.reply);
  if (told.op == "ask") {
    if (!answered.number) return;
    Suggestion& suggestion = suggestions[*answered.number];
    suggestion.params = answered.params;
    suggestion.asked = t;
    return;
  }
  if (!told.number) return;
  Suggestion& suggestion = suggestions[*told.number];
  if (told.op == "report") {
    if (told.step && told.value) suggestion.values.emplace_back(*told.step, *told.value);
    suggestion.asked_to_stop |= answered.prune;
  } else if (told.op == "tell") {
    suggestion.state = told.state;
    suggestion.value = told.state == "pruned" ? told.at_end : told.value;
    suggestion.told = t;
  }
}

void SearchRecord::Apply(const SearchPoint& point) { suggestions[point.number].point_id = point.point_id; }

}  // namespace backplane
