#include "record/fingerprint_file.hpp"

#include <cstring>
#include <string_view>
#include <utility>

#include "base/files.hpp"
#include "base/hash64.hpp"
#include "base/json_text.hpp"
#include "record/attempt_json.hpp"

namespace backplane {
namespace {

constexpr uint64_t kTable = UINT64_MAX, kWord = sizeof(uint64_t), kVersion = 1;
constexpr char kHash[] = "XXH3_64";

struct Table {
  uint64_t version = kVersion;
  std::string hash = kHash;
  FingerprintColumns columns;

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("version", self.version);
    visit("hash", self.hash);
    if (self.version == kVersion) visit("columns", self.columns);
  }
};

void Append(uint64_t word, std::string* out) {
  char bytes[kWord];
  std::memcpy(bytes, &word, kWord);
  out->append(bytes, kWord);
}

std::string WithCheck(std::string entry) {
  Append(Hash64Of(entry.data(), entry.size()), &entry);
  return entry;
}

std::optional<Table> TableOf(std::string_view text) {
  try {
    return RecordFromJson<Table>(ParseAttemptJson(text));
  } catch (const RecordError&) {
    return std::nullopt;
  }
}

// Entry after entry of a file's bytes.
class Entries {
 public:
  Entries(const std::string& bytes, FingerprintFile* out) : bytes_(bytes), out_(out) {}

  void ReadAll() {
    while (!out_->problem && Left() >= kWord && ReadOne()) out_->whole_bytes = at_;
  }

 private:
  uint64_t Left() const { return bytes_.size() - at_; }
  uint64_t Word(uint64_t ahead) const {
    uint64_t word;
    std::memcpy(&word, bytes_.data() + at_ + ahead * kWord, kWord);
    return word;
  }

  // False: it is incomplete or damaged.
  bool ReadOne() {
    const bool table = Word(0) == kTable;
    if (!table && !columns_) return Refuse("is not a file of fingerprints");
    if (table && Left() < 2 * kWord) return false;
    const uint64_t body = table ? Word(1) : columns_->size() * kWord, head = (table ? 2 : 1) * kWord;
    if (body > Left() || head + body + kWord > Left()) return false;
    if (Hash64Of(bytes_.data() + at_, head + body) != Word((head + body) / kWord))
      return Refuse("is damaged at byte " + std::to_string(at_));
    if (table ? !TakeTable(std::string_view(bytes_).substr(at_ + head, body)) : !TakeRecord()) return false;
    at_ += head + body + kWord;
    return true;
  }
  bool TakeTable(std::string_view text) {
    const Table table = TableOf(text).value_or(Table{.version = 0});
    if (table.version != kVersion || table.hash != kHash)
      return Refuse("is of version " + std::to_string(table.version) + " with hashes " + table.hash +
                    ", this program reads version " + std::to_string(kVersion) + " with " + kHash);
    columns_ = std::make_shared<const FingerprintColumns>(table.columns);
    return true;
  }
  bool TakeRecord() {
    Fingerprint found{columns_, std::vector<uint64_t>(columns_->size())};
    for (size_t i = 0; i < found.hashes.size(); ++i) found.hashes[i] = Word(1 + i);
    out_->Add(Word(0), std::move(found));
    return true;
  }
  bool Refuse(std::string what) {
    out_->problem = std::move(what);
    return false;
  }

  const std::string& bytes_;
  FingerprintFile* out_;
  uint64_t at_ = 0;
  std::shared_ptr<const FingerprintColumns> columns_;
};

}  // namespace

void Fingerprints::Add(uint64_t iteration, Fingerprint fingerprint) {
  iterations.erase(iterations.lower_bound(iteration), iterations.end());
  iterations.emplace(iteration, std::move(fingerprint));
}

void Fingerprints::Continue(Fingerprints later) {
  if (later.iterations.empty()) return;
  iterations.erase(iterations.lower_bound(later.iterations.begin()->first), iterations.end());
  iterations.merge(later.iterations);
}

std::optional<FingerprintFile> ReadFingerprints(const std::filesystem::path& file) {
  const std::optional<std::string> bytes = ReadFile(file);
  if (!bytes) return std::nullopt;
  FingerprintFile read;
  Entries(*bytes, &read).ReadAll();
  if (read.problem) read.problem = file.string() + " " + *read.problem;
  return read;
}

std::string TableEntry(const FingerprintColumns& columns) {
  std::string text = JsonText(ToJson<nlohmann::ordered_json>(Table{.columns = columns})), entry;
  text.resize((text.size() + kWord - 1) / kWord * kWord, ' ');
  Append(kTable, &entry);
  Append(text.size(), &entry);
  return WithCheck(entry + text);
}

std::string RecordEntry(uint64_t iteration, const std::vector<uint64_t>& hashes) {
  std::string entry;
  Append(iteration, &entry);
  for (const uint64_t hash : hashes) Append(hash, &entry);
  return WithCheck(std::move(entry));
}

}  // namespace backplane
