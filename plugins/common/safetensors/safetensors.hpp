// Named tensors in a file, https://github.com/huggingface/safetensors#format: the length of a JSON header as a little-endian
// u64, the header (name -> dtype, shape, place in the data), the data. Errors are std::runtime_error, starting with the file's
// path.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace backplane::safetensors {

// In the order of the format's own library, which determines the file layout.
enum class Dtype { kBool, kU8, kI8, kI16, kU16, kF16, kBf16, kI32, kU32, kF32, kF64, kI64, kU64 };
uint64_t ItemBytes(Dtype dtype);
const char* NameOf(Dtype dtype);  // "F32"

struct Tensor {
  Dtype dtype;
  std::vector<uint64_t> shape;  // empty: one number
  const std::byte* data;        // [bytes]; in a file it need not be aligned
  uint64_t bytes;
};
using Tensors = std::map<std::string, Tensor>;
using Metadata = std::map<std::string, std::string>;

// A memory-mapped file. The tensors' data are valid as long as this object.
class Reader {
 public:
  // Validates the header: the tensors must cover the data exactly, without gaps and overlaps.
  explicit Reader(const std::string& path);
  ~Reader();
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  const Tensors& tensors() const { return tensors_; }
  const Metadata& metadata() const { return metadata_; }

 private:
  const std::byte* map_ = nullptr;
  uint64_t size_ = 0;
  Tensors tensors_;
  Metadata metadata_;
};

// Writes the whole file or nothing, with the layout of the format's own library: equal tensors give equal bytes.
void Write(const std::string& path, const Metadata& metadata, const Tensors& tensors);

}  // namespace backplane::safetensors
