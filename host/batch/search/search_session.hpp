// A search whose messages are recorded: every message is in the events before anything follows from it, so a later session
// can bring a new process into the same state.
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

// The same messages have other replies than they had: another version of Optuna, mostly.
class SearchDiffers : public SearchError {
 public:
  using SearchError::SearchError;
};

class SearchSession {
 public:
  // Starts the process, which stays without a study. Throws SearchError, also where Optuna is missing: `open` is tried.
  SearchSession(const std::filesystem::path& log, const nlohmann::json& open, SearchWait wait);

  // Sends what `events_file` says was sent, from the last `open` on, and compares. Throws SearchDiffers, SearchError.
  void Replay(const std::filesystem::path& events_file);
  // Begins anew with what is known of each suggestion, whatever the replies would be. Into the log.
  void Adopt(const SearchRecord& known, const nlohmann::json& open, EventLog* log);
  // A search that has not begun yet.
  void Open(const nlohmann::json& open, EventLog* log) { Send(open, log); }

  // Returns the reply after it is checked and recorded. Throws SearchError; the process has ended then, because it knows a
  // message that the log lacks.
  nlohmann::json Send(const nlohmann::json& request, EventLog* log);

 private:
  struct Message {
    nlohmann::json request;
    std::optional<uint64_t> number = std::nullopt;  // that the reply has to have
  };
  // Several, written down together.
  std::vector<nlohmann::json> SendAll(const std::vector<Message>& messages, EventLog* log);
  nlohmann::json AskChecked(const Message& message, const SearchRecord& known);

  std::filesystem::path log_file_;
  SearchWait wait_;
  std::unique_ptr<SideProcess> process_;
};

// From the last `open` on, in order. Throws std::runtime_error where the file is no events.
std::vector<SearchMessage> SearchMessagesOf(const std::filesystem::path& events_file);

// What has changed from one `open` to another: "method was tpe, is gp"; empty: nothing. A direction that `now` lacks is the one
// that there was.
std::string WhatChanged(const nlohmann::json& before, const nlohmann::json& now);

}  // namespace backplane
