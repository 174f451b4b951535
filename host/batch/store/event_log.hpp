// events.jsonl, opened for writing: the truth of a batch. One writer, the supervisor that holds the folder's lock.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/line_file.hpp"
#include "record/batch_record.hpp"

namespace backplane {

class EventLog {
 public:
  // Cuts a torn last line off before anything is appended, then reads what is there. Throws std::runtime_error.
  explicit EventLog(const std::filesystem::path& file);

  // One write() per line, then fdatasync. The record includes the event when this returns. Throws std::runtime_error, the disk
  // being full for example; then the file still ends with a whole line.
  void Append(const EventBody& body, const std::string& trial_id = "", unsigned attempt = 0);

  // Many at once, with one write() and one fdatasync: all of them are there afterwards, or none.
  struct Entry {
    EventBody body;
    std::string trial_id;
    unsigned attempt = 0;
  };
  void Append(const std::vector<Entry>& entries);

  const BatchRecord& record() const { return record_; }
  void Forget(const std::string& trial_id) { record_.Forget(trial_id); }

 private:
  LineFile file_;
  std::string boot_id_;
  BatchRecord record_;
};

}  // namespace backplane
