// events.jsonl, opened for writing: the source of truth of a batch. The supervisor that holds the folder's lock is the only
// writer.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/line_file.hpp"
#include "record/batch_record.hpp"

namespace backplane {

class EventLog {
 public:
  // Removes an incomplete last line, then reads the file. Throws std::runtime_error.
  explicit EventLog(const std::filesystem::path& file);

  // Uses one write() per line, then fdatasync. On return, the record includes the event. Throws std::runtime_error, for example
  // if the disk is full; then the file still ends with a whole line.
  void Append(const EventBody& body, const std::string& trial_id = "", unsigned attempt = 0);

  // Appends several with one write() and one fdatasync: either all of them or none.
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
