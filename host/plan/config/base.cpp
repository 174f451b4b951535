#include "config/base.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/files.hpp"
#include "config/short_forms.hpp"
#include "contract/value.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMaxFileBytes = 16 << 20;
constexpr size_t kMaxBases = 32;  // an experiment file that builds upon a file that builds upon ...

void MergeInto(Node over, Node* under, bool is_root) {
  if (!over.IsMap() || !under->IsMap()) {
    *under = std::move(over);
    return;
  }
  under->mark = over.mark;
  std::unordered_map<std::string, size_t> places;
  for (size_t i = 0; i < under->entries.size(); ++i) places.emplace(under->entries[i].key, i);
  for (Entry& entry : over.entries) {
    if (const auto found = places.find(entry.key); found != places.end()) {
      Entry& existing = under->entries[found->second];
      existing.mark = entry.mark;
      existing.under_a_budget = entry.under_a_budget;
      // Limits of two files make a budget that neither of them meant: the first that is reached ends the trial.
      const bool is_whole = is_root && entry.key == "budget";
      is_whole ? void(existing.value = std::move(entry.value)) : MergeInto(std::move(entry.value), &existing.value, false);
    } else {
      under->entries.push_back(std::move(entry));
    }
  }
}

// A plugin may have other names for limits of the budget: which, is known when it is.
void PutUnderABudget(Node* node) {
  for (Node& item : node->items) PutUnderABudget(&item);
  for (Entry& entry : node->entries) {
    entry.under_a_budget = true;
    PutUnderABudget(&entry.value);
  }
}

class BaseReader {
 public:
  BaseReader(Errors* errors, int order) : errors_(errors), order_(order) {}

  // `named_by` is the place of the key `base`; NULL for the experiment file.
  std::optional<Node> Read(const fs::path& file, const Mark* named_by) {
    std::error_code error;
    fs::path canonical = fs::weakly_canonical(file, error);
    if (std::find(open_.begin(), open_.end(), canonical) != open_.end()) {
      errors_->Add(*named_by, fmt::format("base: '{}' extends itself", file.string()));
      return std::nullopt;
    }
    if (open_.size() > kMaxBases) {
      errors_->Add(*named_by, fmt::format("base: expected a chain of at most {} files, got more", kMaxBases));
      return std::nullopt;
    }
    const FileText read = ReadRegularFile(file, kMaxFileBytes);
    const std::optional<std::string>& text = read.text;
    if (!text) {
      std::string message = fmt::format("cannot read '{}': {}", file.string(), read.why_not);
      named_by ? errors_->Add(*named_by, "base: " + message) : errors_->AddFile(file.string(), message);
      return std::nullopt;
    }
    open_.push_back(canonical);
    auto source =
        MakeSource(file.string(), fs::absolute(file).parent_path(), *text, order_ + static_cast<int>(open_.size()) - 1);
    std::optional<Node> root = ParseDocument(*text, source, errors_);
    if (root && !root->IsMap() && !root->IsNull()) {
      errors_->Add(root->mark, "expected a mapping, got " + Describe(*root));
      return std::nullopt;
    }
    if (!root) return std::nullopt;
    root->kind = Node::Kind::kMap;
    UseOneSpelling(&*root, errors_);
    return MergeBase(std::move(*root), file);
  }

 private:
  Node MergeBase(Node over, const fs::path& file) {
    auto entry = std::find_if(over.entries.begin(), over.entries.end(), [](const Entry& e) { return e.key == "base"; });
    if (entry == over.entries.end()) return over;
    Mark mark = entry->mark;
    // Not made absolute: errors show the base as the user would name it.
    auto name = ReadValue(entry->value, {ValueType::kText, ""}, "base", errors_);
    over.entries.erase(entry);
    if (!name) return over;
    std::optional<Node> under = Read((file.parent_path() / name->get<std::string>()).lexically_normal(), &mark);
    if (!under) return over;
    MergeOver(std::move(over), &*under);
    return std::move(*under);
  }

  Errors* errors_;
  int order_;
  std::vector<fs::path> open_;  // the files of the chain, canonical
};

}  // namespace

void MergeOver(Node over, Node* under) {
  if (FindEntry(over, "budget")) PutUnderABudget(under);
  MergeInto(std::move(over), under, true);
}

std::optional<Node> ReadWithBase(const fs::path& file, Errors* errors, int order) {
  return BaseReader(errors, order).Read(file, nullptr);
}

}  // namespace backplane
