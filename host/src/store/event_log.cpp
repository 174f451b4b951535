#include "store/event_log.hpp"

#include <chrono>

#include "base/json_text.hpp"
#include "base/process.hpp"

namespace backplane {
namespace {

constexpr int kEventVersion = 1;

double Now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

std::string Line(const Event& event) {
  nlohmann::ordered_json line = {
      {"v", kEventVersion}, {"seq", event.seq}, {"t", event.t}, {"boot_id", event.boot_id}, {"kind", event.kind}};
  if (!event.trial_id.empty()) {
    line["trial_id"] = event.trial_id;
  }
  if (event.attempt > 0) {
    line["attempt"] = event.attempt;
  }
  for (const auto& [key, value] : event.body.items()) {
    line.emplace(key, value);
  }
  return JsonText(line) + "\n";
}

}  // namespace

EventLog::EventLog(const std::filesystem::path& file) : file_(file), boot_id_(BootId()), record_(ReadBatchRecord(file)) {}

void EventLog::Append(const std::string& kind, const std::string& trial_id, unsigned attempt, const nlohmann::json& body) {
  Append({Entry{kind, trial_id, attempt, body}});
}

void EventLog::Append(const std::vector<Entry>& entries) {
  std::vector<Event> events;
  std::string lines;
  for (const Entry& entry : entries) {
    events.push_back(
        {record_.last_seq + 1 + events.size(), Now(), boot_id_, entry.kind, entry.trial_id, entry.attempt, entry.body});
    lines += Line(events.back());
  }
  file_.AppendAndSync(lines);
  for (Event& event : events) record_.Apply(std::move(event));
}

}  // namespace backplane
