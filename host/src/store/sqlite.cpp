#include "store/sqlite.hpp"

#include <limits>

namespace backplane {
namespace {

constexpr int kBusyTimeout_ms = 2000;

}  // namespace

SqliteConnection::SqliteConnection(const std::filesystem::path& file) : file_(file.string()) {
  sqlite3* opened = nullptr;
  const int code = sqlite3_open(file_.c_str(), &opened);
  handle_.reset(opened);  // also after an error, says SQLite
  if (code != SQLITE_OK) {
    Fail(code);
  }
  sqlite3_busy_timeout(opened, kBusyTimeout_ms);
}

void SqliteConnection::Execute(const char* statements) {
  const int code = sqlite3_exec(handle(), statements, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) {
    Fail(code);
  }
}

void SqliteConnection::Fail(int code) const {
  constexpr int kPrimaryCode = 0xff;
  throw SqliteError(code & kPrimaryCode, file_ + ": " + (handle_ ? sqlite3_errmsg(handle()) : sqlite3_errstr(code)));
}

SqliteStatement::SqliteStatement(const SqliteConnection& connection, const char* text) : connection_(connection) {
  sqlite3_stmt* prepared = nullptr;
  const int code = sqlite3_prepare_v2(connection.handle(), text, -1, &prepared, nullptr);
  handle_.reset(prepared);
  if (code != SQLITE_OK) {
    connection.Fail(code);
  }
}

bool SqliteStatement::Step() {
  const int code = sqlite3_step(handle_.get());
  if (code != SQLITE_ROW && code != SQLITE_DONE) {
    connection_.Fail(code);
  }
  return code == SQLITE_ROW;
}

void SqliteStatement::Bind(int index, const std::string& text) {
  sqlite3_bind_text(handle_.get(), index, text.c_str(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
}

void SqliteStatement::Bind(int index, int64_t value) { sqlite3_bind_int64(handle_.get(), index, value); }

void SqliteStatement::Bind(int index, uint64_t value) {
  if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    Bind(index, std::to_string(value));
  } else {
    Bind(index, static_cast<int64_t>(value));
  }
}

void SqliteStatement::Bind(int index, double value) { sqlite3_bind_double(handle_.get(), index, value); }

void SqliteStatement::BindNull(int index) { sqlite3_bind_null(handle_.get(), index); }

SqliteTransaction::~SqliteTransaction() {
  if (open_) {
    sqlite3_exec(connection_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);  // an error here has one before it
  }
}

void SqliteTransaction::Commit() {
  connection_.Execute("COMMIT");
  open_ = false;
}

}  // namespace backplane
