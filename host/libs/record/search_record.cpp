#include "record/search_record.hpp"

#include "base/json_fields.hpp"
#include "record/search_messages.hpp"

namespace backplane {

void SearchRecord::Apply(const SearchMessage& message, double t) {
  const auto told = ReadTolerantly<SearchRequest>(message.request);
  if (told.op == "open") {
    open = message.request;
    opened = message.reply;
    return;
  }
  auto answered = ReadTolerantly<SearchReply>(message.reply);
  if (told.op == "ask") {
    const std::optional<uint64_t> number = CountOf(answered.number);
    if (!number) return;
    Suggestion& suggestion = suggestions[*number];
    suggestion.params = std::move(answered.params);
    suggestion.asked = t;
    return;
  }
  if (!told.number) return;
  Suggestion& suggestion = suggestions[*told.number];
  if (told.op == "report") {
    if (told.step && told.value) suggestion.values.emplace_back(*told.step, *told.value);
    suggestion.asked_to_stop |= answered.prune == true;
  } else if (told.op == "tell") {
    suggestion.state = told.state;
    suggestion.value = told.state == "pruned" ? told.at_end : told.value;
    suggestion.told = t;
  }
}

void SearchRecord::Apply(const SearchPoint& point) { suggestions[point.number].point_id = point.point_id; }

}  // namespace backplane
