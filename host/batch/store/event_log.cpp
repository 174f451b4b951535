#include "store/event_log.hpp"

#include <chrono>

#include "base/json_text.hpp"
#include "base/process.hpp"

namespace backplane {
namespace {

double Now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

std::string Line(const Event& event) { return JsonText(ToJson<nlohmann::ordered_json>(event)) + "\n"; }

}  // namespace

EventLog::EventLog(const std::filesystem::path& file) : file_(file), boot_id_(BootId()), record_(ReadBatchRecord(file)) {}

void EventLog::Append(const EventBody& body, const std::string& trial_id, unsigned attempt) {
  Append({Entry{body, trial_id, attempt}});
}

void EventLog::Append(const std::vector<Entry>& entries) {
  std::vector<Event> events;
  std::string lines;
  for (const Entry& entry : entries) {
    events.push_back({record_.last_seq + 1 + events.size(), Now(), boot_id_, entry.trial_id, entry.attempt, entry.body});
    lines += Line(events.back());
  }
  file_.AppendAndSync(lines);
  for (const Event& event : events) record_.Apply(event);
}

}  // namespace backplane
