#include "header.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

namespace backplane::safetensors {
namespace {

using nlohmann::json;

struct DtypeRow {
  const char* name;
  uint64_t bytes;
};
constexpr std::array<DtypeRow, 13> kDtypes{{{"BOOL", 1},
                                            {"U8", 1},
                                            {"I8", 1},
                                            {"I16", 2},
                                            {"U16", 2},
                                            {"F16", 2},
                                            {"BF16", 2},
                                            {"I32", 4},
                                            {"U32", 4},
                                            {"F32", 4},
                                            {"F64", 8},
                                            {"I64", 8},
                                            {"U64", 8}}};

[[noreturn]] void Refuse(const std::string& sentence) { throw std::runtime_error(sentence); }
std::string Quoted(const std::string& name) { return "'" + name + "'"; }

// A valid header has three levels; the limit protects the recursive parser.
constexpr int kMaxDepth = 4;

json Parse(std::string_view text) {
  if (text.empty() || text.front() != '{') Refuse("header: expected '{' at the start");
  if (text.find('\0') != text.npos) Refuse("header: expected JSON, got a zero byte");  // the parser would stop there
  std::vector<std::set<std::string>> keys;                                             // of the open objects
  const auto look = [&](int depth, json::parse_event_t event, json& value) {
    if (depth > kMaxDepth) Refuse("the header is nested more than " + std::to_string(kMaxDepth) + " levels deep");
    if (event == json::parse_event_t::object_start) keys.emplace_back();
    if (event == json::parse_event_t::object_end) keys.pop_back();
    if (event == json::parse_event_t::key && !keys.back().insert(value.get<std::string>()).second)
      Refuse("the header has the key " + Quoted(value.get<std::string>()) + " twice");
    return true;
  };
  try {
    return json::parse(text, look);
  } catch (const json::exception& e) {
    Refuse(std::string("header: expected JSON, got: ") + e.what());
  }
}

uint64_t Unsigned(const json& value, const std::string& what) {
  if (!value.is_number_unsigned()) Refuse(what + ": expected a whole number of 0 or more, got " + value.dump());
  return value.get<uint64_t>();
}

Dtype ParseDtype(const std::string& tensor, const json& value) {
  if (value.is_string()) {
    for (size_t i = 0; i < kDtypes.size(); ++i) {
      if (value.get<std::string>() == kDtypes[i].name) return static_cast<Dtype>(i);
    }
  }
  std::string known;
  for (const DtypeRow& row : kDtypes) known += std::string(known.empty() ? "" : ", ") + row.name;
  Refuse("dtype of tensor " + Quoted(tensor) + ": expected one of " + known + ", got " + value.dump());
}

// Bytes of a tensor of this shape.
uint64_t BytesOf(const std::string& name, Dtype dtype, const std::vector<uint64_t>& shape) {
  uint64_t bytes = ItemBytes(dtype);
  for (const uint64_t n : shape) {
    if (__builtin_mul_overflow(bytes, n, &bytes)) Refuse("the shape of tensor " + Quoted(name) + " is impossibly large");
  }
  return bytes;
}

Tensor ParseTensor(const std::string& name, const json& value, const std::byte* data, uint64_t data_bytes) {
  const std::string whose = " of tensor " + Quoted(name);
  if (!value.is_object()) Refuse("the entry" + whose + ": expected an object, got " + value.dump());
  for (const char* key : {"dtype", "shape", "data_offsets"}) {
    if (!value.contains(key)) Refuse(std::string(key) + whose + " is missing");
  }
  if (value.size() != 3) Refuse("the entry" + whose + ": expected only dtype, shape and data_offsets, got " + value.dump());
  Tensor tensor{ParseDtype(name, value["dtype"]), {}, nullptr, 0};
  if (!value["shape"].is_array()) Refuse("shape" + whose + ": expected a list, got " + value["shape"].dump());
  for (const json& n : value["shape"]) tensor.shape.push_back(Unsigned(n, "each dimension" + whose));
  const json& offsets = value["data_offsets"];
  if (!offsets.is_array() || offsets.size() != 2)
    Refuse("data_offsets" + whose + ": expected two numbers, got " + offsets.dump());
  const uint64_t begin = Unsigned(offsets[0], "data_offsets" + whose), end = Unsigned(offsets[1], "data_offsets" + whose);
  if (begin > end || end > data_bytes) {
    Refuse("data_offsets" + whose + ": expected a range within the " + std::to_string(data_bytes) + " bytes of data, got " +
           offsets.dump());
  }
  tensor.bytes = BytesOf(name, tensor.dtype, tensor.shape);
  if (tensor.bytes != end - begin) {
    Refuse("data_offsets" + whose + ": expected " + std::to_string(tensor.bytes) + " bytes by shape and dtype, got " +
           std::to_string(end - begin));
  }
  tensor.data = data + begin;
  return tensor;
}

Metadata ParseMetadata(const json& value) {
  if (!value.is_object()) Refuse("__metadata__: expected an object, got " + value.dump());
  Metadata metadata;
  for (const auto& [key, text] : value.items()) {
    if (!text.is_string()) Refuse("__metadata__: expected text for " + Quoted(key) + ", got " + text.dump());
    metadata[key] = text.get<std::string>();
  }
  return metadata;
}

// Every byte belongs to one tensor.
void NeedFullCover(const Tensors& tensors, const std::byte* data, uint64_t bytes) {
  std::vector<std::pair<uint64_t, const Tensors::value_type*>> order;
  for (const auto& each : tensors) order.emplace_back(each.second.data - data, &each);
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return std::pair(a.first, a.second->second.bytes) < std::pair(b.first, b.second->second.bytes);
  });
  uint64_t covered = 0;
  for (const auto& [begin, each] : order) {
    if (begin < covered) Refuse("tensor " + Quoted(each->first) + " overlaps the one before it in the data");
    if (begin > covered) Refuse("the data has a gap before tensor " + Quoted(each->first));
    covered += each->second.bytes;
  }
  if (covered != bytes) {
    Refuse("the tensors cover " + std::to_string(covered) + " bytes of data, but the file has " + std::to_string(bytes));
  }
}

}  // namespace

uint64_t ItemBytes(Dtype dtype) { return kDtypes[static_cast<size_t>(dtype)].bytes; }
const char* NameOf(Dtype dtype) { return kDtypes[static_cast<size_t>(dtype)].name; }

Header ParseHeader(std::string_view text, const std::byte* data, uint64_t bytes) {
  Header header;
  const json parsed = Parse(text);
  for (const auto& [name, value] : parsed.items()) {
    if (name == "__metadata__") {
      header.metadata = ParseMetadata(value);
    } else {
      header.tensors.emplace(name, ParseTensor(name, value, data, bytes));
    }
  }
  NeedFullCover(header.tensors, data, bytes);
  return header;
}

std::vector<const Tensors::value_type*> FileOrder(const Tensors& tensors) {
  std::vector<const Tensors::value_type*> order;
  for (const auto& each : tensors) order.push_back(&each);
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) { return a->second.dtype > b->second.dtype; });
  return order;
}

std::string FormatHeader(const Metadata& metadata, const Tensors& tensors) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  uint64_t at = 0;
  for (const auto* each : FileOrder(tensors)) {
    const Tensor& tensor = each->second;
    header[each->first] = {{"dtype", NameOf(tensor.dtype)}, {"shape", tensor.shape}, {"data_offsets", {at, at + tensor.bytes}}};
    at += tensor.bytes;
  }
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');
  return text;
}

}  // namespace backplane::safetensors
