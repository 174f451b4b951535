#include "store/database_tables.hpp"

#include <limits>

#include "base/json_text.hpp"
#include "record/measurements.hpp"

namespace backplane {
namespace {

// A database of a different schema is rebuilt. 2: same columns, but schema 1 has files that lack the end of a trial although
// last_seq includes it. 3: number and confirms.
constexpr char kSchema[] = "3";

constexpr char kTables[] = R"(
CREATE TABLE trials (
  id TEXT PRIMARY KEY, planned INTEGER, point_id TEXT, name TEXT, seed,
  state TEXT NOT NULL DEFAULT 'PLANNED', outcome TEXT NOT NULL DEFAULT '', why TEXT NOT NULL DEFAULT '',
  attempts INTEGER NOT NULL DEFAULT 0, wall_s REAL, sps REAL, sampling_sps REAL, iterations REAL, env_steps REAL, episodes REAL,
  number INTEGER, confirms INTEGER NOT NULL DEFAULT 0);
CREATE TABLE trial_values (trial_id TEXT NOT NULL, path TEXT NOT NULL, value, PRIMARY KEY (trial_id, path)) WITHOUT ROWID;
CREATE TABLE results (
  trial_id TEXT NOT NULL, name TEXT NOT NULL, mean REAL, sd REAL, se REAL, n INTEGER, PRIMARY KEY (trial_id, name)) WITHOUT ROWID;
CREATE TABLE iterations (
  trial_id TEXT NOT NULL, attempt INTEGER NOT NULL, iteration INTEGER NOT NULL, name TEXT NOT NULL, value REAL);
CREATE INDEX iterations_by_trial ON iterations (trial_id, attempt);
CREATE TABLE attempts (
  trial_id TEXT NOT NULL, number INTEGER NOT NULL, started REAL, ended REAL, outcome TEXT, why TEXT, wall_s REAL,
  peak_rss_bytes REAL, PRIMARY KEY (trial_id, number)) WITHOUT ROWID;
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
)";

// Creates the file if absent. Waits a moment for other users' locks.
SQLite::Database Open(const std::filesystem::path& file) {
  constexpr int kBusyTimeout_ms = 2000;
  return {file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, kBusyTimeout_ms};
}

void Bind(SQLite::Statement& statement, int index, const auto& value) { statement.bind(index, value); }  // NaN becomes NULL
// As text if it exceeds SQLite's integers.
void Bind(SQLite::Statement& statement, int index, const uint64_t& value) {
  if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return Bind(statement, index, std::to_string(value));
  statement.bind(index, static_cast<int64_t>(value));
}
template <class T>
void Bind(SQLite::Statement& statement, int index, const std::optional<T>& value) {
  value ? Bind(statement, index, *value) : statement.bind(index);
}

void Run(SQLite::Statement& statement, const auto&... values) {
  statement.reset();
  int index = 0;
  (Bind(statement, ++index, values), ...);
  statement.exec();
}

void Run(const SQLite::Database& database, const char* text, const auto&... values) {
  SQLite::Statement statement(database, text);
  Run(statement, values...);
}

// The first column of the first row; absent without a row.
std::optional<std::string> Ask(const SQLite::Database& database, const char* text) {
  SQLite::Statement statement(database, text);
  return statement.executeStep() ? std::optional(statement.getColumn(0).getString()) : std::nullopt;
}

// The trial's cost: the sum over all ended attempts.
std::optional<double> WallSeconds(const TrialRecord& trial) {
  std::optional<double> sum;
  for (const AttemptRecord& attempt : trial.attempts) {
    if (attempt.end.wall_s) sum = sum.value_or(0) + *attempt.end.wall_s;
  }
  return sum;
}

void PutValue(SQLite::Statement& insert, const std::string& trial_id, const std::string& path, const nlohmann::json& value) {
  if (value.is_number_unsigned()) {
    Run(insert, trial_id, path, value.get<uint64_t>());
  } else if (value.is_number_integer()) {
    Run(insert, trial_id, path, value.get<int64_t>());
  } else if (value.is_number()) {
    Run(insert, trial_id, path, value.get<double>());
  } else {
    Run(insert, trial_id, path, value.is_string() ? value.get<std::string>() : JsonText(value));
  }
}

}  // namespace

DatabaseTables::DatabaseTables(const std::filesystem::path& file, const ResultsFolder& folder)
    : folder_(folder), database_(Open(file)) {
  database_.exec("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;");
}

bool DatabaseTables::OfThisSchema() {
  return database_.tableExists("meta") && Ask(database_, "SELECT value FROM meta WHERE key = 'schema'") == kSchema;
}

uint64_t DatabaseTables::LastSeq() {
  const auto text = Ask(database_, "SELECT value FROM meta WHERE key = 'last_seq'");
  return text ? std::stoull(*text) : 0;
}

void DatabaseTables::Make() {
  SQLite::Transaction transaction(database_, SQLite::TransactionBehavior::IMMEDIATE);
  database_.exec(kTables);
  Run(database_, "INSERT INTO meta VALUES ('schema', ?), ('last_seq', '0')", kSchema);
  transaction.commit();
}

void DatabaseTables::CatchUp(const std::vector<PlanLine>& plan, const BatchRecord& record) {
  SQLite::Transaction transaction(database_, SQLite::TransactionBehavior::IMMEDIATE);
  PutPlan(plan);
  PutEvents(record);
  transaction.commit();
}

void DatabaseTables::Update(const BatchRecord& record) {
  SQLite::Transaction transaction(database_, SQLite::TransactionBehavior::IMMEDIATE);
  PutEvents(record);
  transaction.commit();
}

// Writes every trial with a new event, not only the caller's, because "last_seq" covers all trials.
void DatabaseTables::PutEvents(const BatchRecord& record) {
  const uint64_t seen = LastSeq();
  for (const auto& [id, trial] : record.trials) {
    if (trial.last_seq > seen) {
      PutTrial(trial);
    }
  }
  PutLastSeq(record.last_seq);
}

void DatabaseTables::PutPlan(const std::vector<PlanLine>& plan) {
  database_.exec("UPDATE trials SET planned = NULL");
  SQLite::Statement trial(
      database_,
      "INSERT INTO trials (id, planned, point_id, name, seed, number, confirms) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) "
      "DO UPDATE SET planned = excluded.planned, point_id = excluded.point_id, name = excluded.name, seed = excluded.seed, "
      "number = excluded.number, confirms = excluded.confirms");
  SQLite::Statement forget(database_, "DELETE FROM trial_values WHERE trial_id = ?");
  SQLite::Statement value(database_, "INSERT INTO trial_values VALUES (?, ?, ?)");
  uint64_t place = 0;
  for (const PlanLine& line : plan) {
    if (line.dropped) {
      continue;
    }
    Run(trial, line.trial_id, place++, line.point_id, line.name, line.seed, line.number, static_cast<uint64_t>(line.confirms));
    Run(forget, line.trial_id);
    for (const auto& [path, swept] : line.values) {
      PutValue(value, line.trial_id, path, swept);
    }
  }
}

void DatabaseTables::PutTrial(const TrialRecord& trial) {
  for (const char* text : {"DELETE FROM results WHERE trial_id = ?", "DELETE FROM iterations WHERE trial_id = ?",
                           "DELETE FROM attempts WHERE trial_id = ?", "INSERT OR IGNORE INTO trials (id) VALUES (?)"}) {
    Run(database_, text, trial.id);
  }
  for (const AttemptRecord& attempt : trial.attempts) {
    PutAttempt(trial, attempt);
  }
  const unsigned last = trial.attempts.empty() ? 0 : trial.attempts.back().number;
  const Measurements found = last > 0 ? ReadMeasurements(folder_.attempt(trial.id, last)) : Measurements{};
  Run(database_,
      "UPDATE trials SET state = ?, outcome = ?, why = ?, attempts = ?, wall_s = ?, sps = ?, sampling_sps = ?, "
      "iterations = ?, env_steps = ?, episodes = ? WHERE id = ?",
      std::string(Word(trial.state)), std::string(Word(trial.outcome)), trial.why, static_cast<uint64_t>(trial.attempts.size()),
      WallSeconds(trial), found.result.sps, found.result.sampling_sps, found.result.iterations, found.result.env_steps,
      found.result.episodes, trial.id);
  SQLite::Statement insert(database_, "INSERT INTO results VALUES (?, ?, ?, ?, ?, ?)");
  for (const auto& [name, spread] : found.statistics) {
    Run(insert, trial.id, name, spread.mean, spread.sd, spread.se, spread.n);
  }
  const std::optional<double> none;
  for (const auto& [name, value] : found.time) {
    Run(insert, trial.id, name, std::optional(value), none, none, none);
  }
}

void DatabaseTables::PutAttempt(const TrialRecord& trial, const AttemptRecord& attempt) {
  Run(database_, "INSERT INTO attempts VALUES (?, ?, ?, ?, ?, ?, ?, ?)", trial.id, attempt.number, attempt.started,
      attempt.ended, std::string(Word(attempt.end.outcome)), attempt.end.why, attempt.end.wall_s, attempt.end.peak_rss_bytes);
  if (!attempt.ended) {
    return;  // it is still writing
  }
  SQLite::Statement insert(database_, "INSERT INTO iterations VALUES (?, ?, ?, ?, ?)");
  for (const IterationValue& one : ReadIterations(folder_.attempt(trial.id, attempt.number))) {
    Run(insert, trial.id, attempt.number, one.iteration, one.name, one.value);
  }
}

void DatabaseTables::PutLastSeq(uint64_t seq) {
  Run(database_, "UPDATE meta SET value = ? WHERE key = 'last_seq'", std::to_string(seq));
}

void CopyInto(const std::filesystem::path& copy, const std::filesystem::path& from) {
  Run(Open(from), "VACUUM INTO ?", copy.string());
}

}  // namespace backplane
