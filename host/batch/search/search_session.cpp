#include "search/search_session.hpp"

#include <fmt/format.h>

#include <fstream>
#include <stdexcept>
#include <utility>

#include "base/error_words.hpp"
#include "base/files.hpp"
#include "base/json_fields.hpp"
#include "base/json_text.hpp"
#include "search/check_reply.hpp"

namespace backplane {
namespace {

using nlohmann::json;

bool Is(const json& request, const char* op) { return Text(At(request, "op")) == op; }

std::string VersionOf(const json& reply) { return Text(At(reply, "version"), "?"); }

// The error for a request whose reply has changed.
std::string SayThatItDiffers(const SearchMessage& was, const json& now, const json& opened, const json& opens) {
  const std::string versions = VersionOf(opened) == VersionOf(opens)
                                   ? "Optuna " + VersionOf(opens)
                                   : "Optuna " + VersionOf(opens) + " (then " + VersionOf(opened) + ")";
  return fmt::format(
      "sweep.search: {} now answers {} with {}, but answered {} when these results were made\n"
      "no trial was started\n"
      "hint: --adopt-history resumes with these results; --fresh moves them aside and starts from scratch\n",
      versions, JsonText(was.request), JsonText(now), JsonText(was.reply));
}

Event EventOf(const std::string& line, const std::filesystem::path& file, size_t number) try {
  return RecordFromJson<Event>(json::parse(line));
} catch (const std::exception& error) {
  throw std::runtime_error(fmt::format("{}:{}: not an event: {}", file.string(), number, WordsOf(error)));
}

}  // namespace

SearchSession::SearchSession(const std::filesystem::path& log, const json& open, SearchWait wait)
    : log_file_(log), wait_(std::move(wait)), process_(std::make_unique<SideProcess>(log, wait_)) {
  AskChecked({open}, {});
}

void SearchSession::Replay(const std::filesystem::path& events_file) {
  const std::vector<SearchMessage> messages = SearchMessagesOf(events_file);
  json opens;
  for (const SearchMessage& message : messages) {
    const json reply = process_->Ask(message.request);
    if (Is(message.request, "open")) {
      opens = reply;
    } else if (reply != message.reply) {
      throw SearchDiffers(SayThatItDiffers(message, reply, messages.front().reply, opens));
    }
  }
}

void SearchSession::Adopt(const SearchRecord& known, const json& open, EventLog* log) {
  process_ = std::make_unique<SideProcess>(log_file_, wait_);
  std::vector<Message> messages = {{open}};
  for (const auto& [number, suggestion] : known.suggestions) {
    json adopted = {{"op", "adopt"}, {"params", suggestion.params}, {"state", suggestion.state}, {"values", json::array()}};
    if (suggestion.value) adopted["value"] = *suggestion.value;
    for (const auto& [step, value] : suggestion.values) adopted["values"].push_back({step, value});
    messages.push_back({std::move(adopted), number});
  }
  SendAll(messages, log);
}

json SearchSession::Send(const json& request, EventLog* log) { return SendAll({{request}}, log).front(); }

std::vector<json> SearchSession::SendAll(const std::vector<Message>& messages, EventLog* log) {
  std::vector<json> replies;
  std::vector<EventLog::Entry> entries;
  for (const Message& message : messages) {
    replies.push_back(AskChecked(message, log->record().search));
    entries.push_back({SearchMessage{message.request, replies.back()}, "", 0});
  }
  log->Append(entries);
  return replies;
}

json SearchSession::AskChecked(const Message& message, const SearchRecord& known) {
  json reply = process_->Ask(message.request);
  const std::string error = ReplyError(message.request, reply, known, message.number);
  if (error.empty()) return reply;
  process_->End();
  throw SearchError(fmt::format("sweep.search: the reply to '{}' cannot be used: {}", Text(At(message.request, "op")), error));
}

std::vector<SearchMessage> SearchMessagesOf(const std::filesystem::path& events_file) {
  std::vector<SearchMessage> messages;
  std::ifstream stream = OpenStream(events_file);
  const std::string kind = fmt::format("\"{}\"", SearchMessage::kKind);
  size_t number = 0;
  for (std::string line; std::getline(stream, line) && !stream.eof();) {
    ++number;
    if (line.find(kind) == std::string::npos) continue;
    Event event = EventOf(line, events_file, number);
    auto* const message = std::get_if<SearchMessage>(&event.body);
    if (!message) continue;
    if (Is(message->request, "open")) messages.clear();
    messages.push_back(std::move(*message));
  }
  return messages;
}

std::string WhatChanged(const json& before, const json& now) {
  std::string changes;
  for (const char* key : {"name", "method", "seed", "metric", "direction", "pruner", "space"}) {
    const json &was = At(before, key), &is = At(now, key);
    if (was == is || (is.is_null() && std::string(key) == "direction")) continue;
    changes += fmt::format("{}{} was {}, is {}", changes.empty() ? "" : "; ", key, JsonText(was), JsonText(is));
  }
  return changes;
}

}  // namespace backplane
