#include "tf_events/tf_reader.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#include "tf_events/crc32c.hpp"

namespace backplane {
namespace {

// Fields of event.proto, summary.proto and tensor.proto.
enum EventField : uint64_t { kEventWallTime = 1, kEventStep = 2, kEventSummary = 5 };
enum ValueField : uint64_t { kValueTag = 1, kValueSimple = 2, kValueTensor = 8 };
enum TensorField : uint64_t { kTensorType = 1, kTensorContent = 4, kTensorFloats = 5, kTensorDoubles = 6 };
constexpr uint64_t kTypeFloat = 1, kTypeDouble = 2;

constexpr size_t kHeaderBytes = 12, kFooterBytes = 4;
constexpr size_t kChunkBytes = 1 << 20;
constexpr uint64_t kMostRecordBytes = 16 << 20;  // of records with scalars; larger ones are pictures, and are skipped

template <class T>
T LittleEndian(std::string_view bytes) {
  T value = 0;
  for (size_t i = 0; i < sizeof value; ++i) value |= T{static_cast<uint8_t>(bytes[i])} << (8 * i);
  return value;
}

uint32_t MaskedCrc(std::string_view bytes) { return std::rotr(Crc32c(bytes), 15) + 0xA282EAD8u; }

// Iterates over the fields of a message.
class Fields {
 public:
  enum Wire : uint64_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };
  struct Field {
    uint64_t number = 0;
    Wire wire = kVarint;
    uint64_t integer = 0;    // of kVarint, and the bits of the fixed ones
    std::string_view bytes;  // of kBytes
  };

  explicit Fields(std::string_view message) : rest_(message) {}

  // Absent: there are no more, or it is no message.
  std::optional<Field> Next() {
    Field field;
    uint64_t key = 0;
    if (rest_.empty() || !Varint(&key)) return std::nullopt;
    field.number = key >> 3;
    field.wire = static_cast<Wire>(key & 7);
    switch (field.wire) {
      case kVarint: return Varint(&field.integer) ? std::optional(field) : std::nullopt;
      case kFixed64: return Fixed<uint64_t>(&field) ? std::optional(field) : std::nullopt;
      case kFixed32: return Fixed<uint32_t>(&field) ? std::optional(field) : std::nullopt;
      case kBytes: {
        uint64_t size = 0;
        if (!Varint(&size) || size > rest_.size()) return std::nullopt;
        field.bytes = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return field;
      }
      default: return std::nullopt;
    }
  }

 private:
  bool Varint(uint64_t* value) {
    *value = 0;
    for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<uint8_t>(rest_.front());
      rest_.remove_prefix(1);
      *value |= uint64_t{byte & 0x7Fu} << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }

  template <class T>
  bool Fixed(Field* field) {
    if (rest_.size() < sizeof(T)) return false;
    field->integer = LittleEndian<T>(rest_);
    rest_.remove_prefix(sizeof(T));
    return true;
  }

  std::string_view rest_;
};

double FloatOf(uint64_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits)); }

// One number, or several that are packed.
template <class Take>
void TakeFloats(const Fields::Field& field, const Take& take) {
  if (field.wire != Fields::kBytes) return take(FloatOf(field.integer));
  for (size_t at = 0; at + 4 <= field.bytes.size(); at += 4) take(FloatOf(LittleEndian<uint32_t>(field.bytes.substr(at))));
}

template <class Take>
void TakeDoubles(const Fields::Field& field, const Take& take) {
  if (field.wire != Fields::kBytes) return take(std::bit_cast<double>(field.integer));
  for (size_t at = 0; at + 8 <= field.bytes.size(); at += 8)
    take(std::bit_cast<double>(LittleEndian<uint64_t>(field.bytes.substr(at))));
}

// Reads a tensor with one number, which can be in any of three fields.
std::optional<double> OnlyNumber(std::string_view tensor) {
  uint64_t type = 0;
  std::string_view content;
  std::optional<double> number;
  size_t numbers = 0;
  const auto take = [&](double value) { number = value, ++numbers; };
  Fields fields(tensor);
  while (const auto field = fields.Next()) {
    if (field->number == kTensorType) type = field->integer;
    if (field->number == kTensorContent) content = field->bytes;
    if (field->number == kTensorFloats) TakeFloats(*field, take);
    if (field->number == kTensorDoubles) TakeDoubles(*field, take);
  }
  if (type == kTypeFloat && content.size() == 4) take(FloatOf(LittleEndian<uint32_t>(content)));
  if (type == kTypeDouble && content.size() == 8) take(std::bit_cast<double>(LittleEndian<uint64_t>(content)));
  return numbers == 1 && (type == kTypeFloat || type == kTypeDouble) ? number : std::nullopt;
}

void UseValue(std::string_view item, TfValue value, const std::function<void(const TfValue&)>& use) {
  std::optional<double> number;
  Fields fields(item);
  while (const auto field = fields.Next()) {
    if (field->number == kValueTag && field->wire == Fields::kBytes) value.tag = field->bytes;
    if (field->number == kValueSimple && field->wire == Fields::kFixed32) number = FloatOf(field->integer);
    if (field->number == kValueTensor && field->wire == Fields::kBytes) number = OnlyNumber(field->bytes);
  }
  if (!number || value.tag.empty()) return;
  value.value = *number;
  use(value);
}

struct OpenFile {
  explicit OpenFile(const std::filesystem::path& file) : fd(open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~OpenFile() {
    if (fd >= 0) close(fd);
  }
  OpenFile(const OpenFile&) = delete;

  // 0 unless it is a regular file.
  uint64_t size() const {
    struct stat info {};
    return fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) ? static_cast<uint64_t>(info.st_size) : 0;
  }
  std::string Read(uint64_t offset, uint64_t bytes) const {
    std::string text(bytes, '\0');
    size_t done = 0;
    while (done < bytes) {
      const ssize_t n = pread(fd, text.data() + done, bytes - done, static_cast<off_t>(offset + done));
      if (n == 0 || (n < 0 && errno != EINTR)) break;
      done += n > 0 ? static_cast<size_t>(n) : 0;
    }
    text.resize(done);
    return text;
  }

  const int fd;
};

}  // namespace

void ForEachScalar(std::string_view event, const std::function<void(const TfValue&)>& use) {
  TfValue value;
  // Protobuf fields are unordered: the step may come after the values that it belongs to.
  Fields heads(event);
  while (const auto field = heads.Next()) {
    if (field->number == kEventWallTime && field->wire == Fields::kFixed64)
      value.wall_time = std::bit_cast<double>(field->integer);
    if (field->number == kEventStep && field->wire == Fields::kVarint) value.step = static_cast<int64_t>(field->integer);
  }
  Fields fields(event);
  while (const auto field = fields.Next()) {
    if (field->number != kEventSummary || field->wire != Fields::kBytes) continue;
    Fields items(field->bytes);
    while (const auto item = items.Next())
      if (item->number == 1 && item->wire == Fields::kBytes) UseValue(item->bytes, value, use);
  }
}

void TfEventReader::Read(const std::function<void(const TfValue&)>& use) {
  if (!damage_.empty()) return;
  const OpenFile file(file_);
  const uint64_t size = file.size();
  uint64_t wanted = kChunkBytes;
  while (offset_ < size && damage_.empty()) {
    const uint64_t asked = std::min(wanted, size - offset_);
    const std::string bytes = file.Read(offset_, asked);
    if (bytes.size() < asked) return;  // it was truncated meanwhile
    if (const auto used = TakeRecords(bytes, size, &wanted, use)) {
      offset_ += *used;
      wanted = kChunkBytes;
    } else if (wanted <= asked || wanted > size - offset_) {
      return;  // the rest is still to be written
    }
  }
}

std::optional<uint64_t> TfEventReader::TakeRecords(std::string_view bytes, uint64_t file_bytes, uint64_t* wanted_bytes,
                                                   const std::function<void(const TfValue&)>& use) {
  size_t at = 0;
  for (;;) {
    const std::string_view rest = bytes.substr(at);
    if (rest.size() < kHeaderBytes) {
      *wanted_bytes = kHeaderBytes;
      break;
    }
    const uint64_t length = LittleEndian<uint64_t>(rest);
    if (LittleEndian<uint32_t>(rest.substr(8)) != MaskedCrc(rest.substr(0, 8))) {
      damage_ = file_.string() + ": not an event file from byte " + std::to_string(offset_ + at) + " on: a checksum is wrong";
      return at;
    }
    const uint64_t whole = kHeaderBytes + length + kFooterBytes;
    if (length > kMostRecordBytes) {
      if (whole > file_bytes - offset_ - at)
        return at > 0 ? std::optional<uint64_t>(at) : (*wanted_bytes = whole, std::nullopt);
      return at + whole;
    }
    if (rest.size() < whole) {
      *wanted_bytes = whole;
      break;
    }
    const std::string_view event = rest.substr(kHeaderBytes, length);
    if (LittleEndian<uint32_t>(rest.substr(kHeaderBytes + length)) != MaskedCrc(event)) {
      damage_ = file_.string() + ": the record at byte " + std::to_string(offset_ + at) + " is damaged: its checksum is wrong";
      return at;
    }
    ForEachScalar(event, use);
    at += whole;
  }
  return at > 0 ? std::optional<uint64_t>(at) : std::nullopt;
}

}  // namespace backplane
