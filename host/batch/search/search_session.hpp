// A search with recorded messages. Every message is in the events before it has an effect, so a later session can bring a new
// process into the same state.
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "search/side_process.hpp"
#include "store/event_log.hpp"

namespace backplane {

// The same messages get other replies than before, usually from a different version of Optuna.
class SearchDiffers : public SearchError {
 public:
  using SearchError::SearchError;
};

class SearchSession {
 public:
  // Starts the process and tries `open`, but creates no study. Throws SearchError, also if Optuna is missing.
  SearchSession(const std::filesystem::path& log, const nlohmann::json& open, SearchWait wait);

  // Sends the messages recorded in `events_file` again, from the last `open`, and compares. Throws SearchDiffers, SearchError.
  void Replay(const std::filesystem::path& events_file);
  // Opens the search again with the known suggestions, whatever the replies would be. Logs its messages.
  void Adopt(const SearchRecord& known, const nlohmann::json& open, EventLog* log);
  // Opens a search for the first time.
  void Open(const nlohmann::json& open, EventLog* log) { Send(open, log); }

  // Returns the reply after it is checked and recorded. Throws SearchError and ends the process, because it knows a message
  // that the log lacks.
  nlohmann::json Send(const nlohmann::json& request, EventLog* log);

 private:
  struct Message {
    nlohmann::json request;
    std::optional<uint64_t> number = std::nullopt;  // expected in the reply
  };
  // Sends several messages and records them with one write.
  std::vector<nlohmann::json> SendAll(const std::vector<Message>& messages, EventLog* log);
  nlohmann::json AskChecked(const Message& message, const SearchRecord& known);

  std::filesystem::path log_file_;
  SearchWait wait_;
  std::unique_ptr<SideProcess> process_;
};

// The messages from the last `open` on, in order. Throws std::runtime_error if the file contains no events.
std::vector<SearchMessage> SearchMessagesOf(const std::filesystem::path& events_file);

// Describes the changes from one `open` to another: "method was tpe, is gp". Empty: no change. If `now` lacks a direction, it
// keeps the earlier one.
std::string WhatChanged(const nlohmann::json& before, const nlohmann::json& now);

}  // namespace backplane
