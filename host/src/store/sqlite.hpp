// SQLite with owners for its handles and exceptions for its codes.
#pragma once

#include <sqlite3.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

namespace backplane {

class SqliteError : public std::runtime_error {
 public:
  SqliteError(int error_code, const std::string& what) : std::runtime_error(what), code(error_code) {}
  const int code;  // primary result code, SQLITE_CORRUPT for example
};

class SqliteConnection {
 public:
  // Made if absent. Others get a moment to let go of it. Throws SqliteError, as everything here does.
  explicit SqliteConnection(const std::filesystem::path& file);
  void Execute(const char* statements);
  sqlite3* handle() const { return handle_.get(); }
  [[noreturn]] void Fail(int code) const;

 private:
  std::string file_;
  std::unique_ptr<sqlite3, int (*)(sqlite3*)> handle_{nullptr, sqlite3_close};
};

// One prepared statement, used again and again.
class SqliteStatement {
 public:
  SqliteStatement(const SqliteConnection& connection, const char* text);

  template <class... Values>
  void Run(const Values&... values) {
    Begin(values...);
    Step();
    sqlite3_reset(handle_.get());
  }
  // The first column of the first row; absent without a row.
  template <class... Values>
  std::optional<std::string> Ask(const Values&... values) {
    Begin(values...);
    std::optional<std::string> answer;
    if (Step()) {
      const unsigned char* text = sqlite3_column_text(handle_.get(), 0);
      answer = text != nullptr ? reinterpret_cast<const char*>(text) : "";
    }
    sqlite3_reset(handle_.get());
    return answer;
  }

 private:
  template <class... Values>
  void Begin(const Values&... values) {
    sqlite3_reset(handle_.get());
    int index = 0;
    (Bind(++index, values), ...);
  }
  bool Step();  // true: there is a row
  void Bind(int index, const std::string& text);
  void Bind(int index, int64_t value);
  void Bind(int index, uint64_t value);  // text if SQLite's integers do not reach so far
  void Bind(int index, unsigned value) { Bind(index, static_cast<int64_t>(value)); }
  void Bind(int index, double value);  // NaN becomes NULL: SQLite has none
  void BindNull(int index);
  template <class T>
  void Bind(int index, const std::optional<T>& value) {
    value ? Bind(index, *value) : BindNull(index);
  }

  const SqliteConnection& connection_;
  std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> handle_{nullptr, sqlite3_finalize};
};

// All or nothing: what was not committed is taken back.
class SqliteTransaction {
 public:
  explicit SqliteTransaction(SqliteConnection& connection) : connection_(connection) { connection.Execute("BEGIN IMMEDIATE"); }
  ~SqliteTransaction();
  SqliteTransaction(const SqliteTransaction&) = delete;
  void Commit();

 private:
  SqliteConnection& connection_;
  bool open_ = true;
};

}  // namespace backplane
