#include "tf_events/tf_events.hpp"

#include <bit>
#include <cstdio>
#include <stdexcept>

#include "tf_events/crc32c.hpp"

namespace backplane {
namespace {

// Keys of protobuf fields: number and kind, as event.proto and summary.proto have them.
constexpr char kWallTime = 0x09, kStep = 0x10, kFileVersion = 0x1A, kSummary = 0x2A, kSessionLog = 0x3A;
constexpr char kSummaryValue = 0x0A, kTag = 0x0A, kSimpleValue = 0x15;
constexpr char kStatus = 0x08, kStart = 0x01;  // of a SessionLog
constexpr size_t kFlushBytes = 1 << 16;

// A checksum over data with embedded checksums is weak, so stored ones are masked.
uint32_t Masked(uint32_t crc) { return std::rotr(crc, 15) + 0xA282EAD8u; }

template <class T>
void AddLittleEndian(T value, std::string* out) {
  for (size_t i = 0; i < sizeof value; ++i) {
    out->push_back(static_cast<char>(value >> (8 * i)));
  }
}

void AddVarint(uint64_t value, std::string* out) {
  for (; value >= 0x80; value >>= 7) {
    out->push_back(static_cast<char>(value | 0x80));
  }
  out->push_back(static_cast<char>(value));
}

void AddBytes(char key, std::string_view bytes, std::string* out) {
  out->push_back(key);
  AddVarint(bytes.size(), out);
  out->append(bytes);
}

// A step of 0 is left out, like defaults in protobuf; a negative one needs ten bytes.
std::string Event(double wall_time, int64_t step) {
  std::string event(1, kWallTime);
  AddLittleEndian(std::bit_cast<uint64_t>(wall_time), &event);
  if (step != 0) {
    event.push_back(kStep);
    AddVarint(static_cast<uint64_t>(step), &event);
  }
  return event;
}

std::string Record(const std::string& event) {
  std::string record;
  AddLittleEndian(uint64_t{event.size()}, &record);
  AddLittleEndian(Masked(Crc32c(record)), &record);
  record += event;
  AddLittleEndian(Masked(Crc32c(event)), &record);
  return record;
}

}  // namespace

std::string TfFileVersion(double wall_time) {
  std::string event = Event(wall_time, 0);
  AddBytes(kFileVersion, "brain.Event:2", &event);
  return Record(event);
}

std::string TfSessionStart(double wall_time, int64_t step) {
  std::string event = Event(wall_time, step);
  AddBytes(kSessionLog, std::string{kStatus, kStart}, &event);
  return Record(event);
}

std::string TfScalar(double wall_time, int64_t step, std::string_view tag, float value) {
  std::string item, summary, event = Event(wall_time, step);
  AddBytes(kTag, tag, &item);
  item.push_back(kSimpleValue);
  AddLittleEndian(std::bit_cast<uint32_t>(value), &item);
  AddBytes(kSummaryValue, item, &summary);
  AddBytes(kSummary, summary, &event);
  return Record(event);
}

std::string_view ChartAlias(std::string_view name) {
  return name == "sps" ? "charts/SPS" : name == "return" ? "charts/episodic_return" : "";
}

std::string TfFileName(double start_time, uint64_t sequence) {
  char name[64];
  std::snprintf(name, sizeof name, "events.out.tfevents.%010lld.%04llu", static_cast<long long>(start_time),
                static_cast<unsigned long long>(sequence));
  return name;
}

TfEventFile::TfEventFile(const std::filesystem::path& file, double start_time) : file_(file) {
  if (!file.parent_path().empty()) {
    std::filesystem::create_directories(file.parent_path());
  }
  out_.open(file, std::ios::binary | std::ios::trunc);
  if (!out_) {
    throw std::runtime_error(file.string() + " cannot be opened for writing");
  }
  waiting_ = TfFileVersion(start_time);
}

void TfEventFile::SessionStart(double wall_time, int64_t step) { waiting_ += TfSessionStart(wall_time, step); }

void TfEventFile::Scalar(double wall_time, int64_t step, std::string_view name, double value) {
  waiting_ += TfScalar(wall_time, step, name, static_cast<float>(value));
  if (const std::string_view alias = ChartAlias(name); !alias.empty()) {
    waiting_ += TfScalar(wall_time, step, alias, static_cast<float>(value));
  }
  if (waiting_.size() >= kFlushBytes) {
    Flush();
  }
}

void TfEventFile::Flush() {
  out_.write(waiting_.data(), static_cast<std::streamsize>(waiting_.size()));
  out_.flush();
  waiting_.clear();
  if (!out_) {
    throw std::runtime_error(file_.string() + " cannot be written");
  }
}

}  // namespace backplane
