#include "store/database.hpp"

#include <sqlite3.h>

#include <stdexcept>
#include <utility>

#include "base/error_words.hpp"
#include "base/shell_argument.hpp"
#include "store/database_tables.hpp"

namespace backplane {
namespace {

// SQLite keeps two files next to a database. It would apply them to a new database of the same name.
void RemoveCompanions(const std::filesystem::path& file) {
  for (const char* suffix : {"-wal", "-shm"}) {
    std::filesystem::remove(file.string() + suffix);
  }
}

// NULL if the file is unusable: absent, broken, or of a different schema or different events.
std::unique_ptr<DatabaseTables> OpenUsable(const ResultsFolder& folder, const BatchRecord& record) {
  if (!std::filesystem::exists(folder.database())) {
    return nullptr;
  }
  try {
    auto tables = std::make_unique<DatabaseTables>(folder.database(), folder);
    return tables->OfThisSchema() && tables->LastSeq() <= record.last_seq ? std::move(tables) : nullptr;
  } catch (const SQLite::Exception& error) {
    if (error.getErrorCode() == SQLITE_NOTADB || error.getErrorCode() == SQLITE_CORRUPT) {
      return nullptr;
    }
    throw;  // locked, for example: it must stay
  }
}

// SQLite's messages omit the file name; add it.
void InFile(const std::filesystem::path& file, const std::function<void()>& work) {
  try {
    work();
  } catch (const SQLite::Exception& error) {
    throw std::runtime_error(file.string() + ": " + error.what());
  }
}

}  // namespace

Database::Database(const std::filesystem::path& out, const std::vector<PlanLine>& plan, const BatchRecord& record, Warn warn)
    : out_(out), warn_(std::move(warn)) {
  Guard([&] {
    const ResultsFolder folder{out_};
    tables_ = OpenUsable(folder, record);
    if (!tables_) {
      RebuildDatabase(out_, plan, record);
      tables_ = std::make_unique<DatabaseTables>(folder.database(), folder);
    }
    tables_->CatchUp(plan, record);
  });
}

Database::~Database() = default;

void Database::Grow(const std::vector<PlanLine>& plan, const BatchRecord& record) {
  if (tables_) Guard([&] { tables_->CatchUp(plan, record); });
}

void Database::Update(const BatchRecord& record) {
  if (tables_) {
    Guard([&] { tables_->Update(record); });
  }
}

void Database::Guard(const std::function<void()>& work) {
  try {
    InFile(ResultsFolder{out_}.database(), work);
  } catch (const std::exception& error) {
    tables_.reset();
    warn_(WordsOf(error) + "; the batch continues without it, and `backplane store rebuild " + out_.string() +
          "` writes it again");
  }
}

void RebuildDatabase(const std::filesystem::path& out, const std::vector<PlanLine>& plan, const BatchRecord& record) {
  const ResultsFolder folder{out};
  const std::filesystem::path temporary = folder.database().string() + ".tmp";
  std::filesystem::remove(temporary);
  RemoveCompanions(temporary);
  InFile(temporary, [&] {
    DatabaseTables tables(temporary, folder);
    tables.Make();
    tables.CatchUp(plan, record);
  });  // closing the last connection moves the -wal file's content into the database
  RemoveCompanions(folder.database());
  std::filesystem::rename(temporary, folder.database());
}

void CopyDatabase(const std::filesystem::path& out, const std::filesystem::path& to) {
  const std::filesystem::path from = ResultsFolder{out}.database();
  if (!std::filesystem::exists(from)) {
    throw std::runtime_error(from.string() + " does not exist\nhint: backplane store rebuild " + ShellArgument(out.string()));
  }
  const std::filesystem::path temporary = to.string() + ".tmp";
  std::filesystem::remove(temporary);
  InFile(from, [&] { CopyInto(temporary, from); });
  std::filesystem::rename(temporary, to);
}

}  // namespace backplane
