// Arrays of other programs in the bytes of a policy, and files of arrays that are damaged or hostile.
#include "trial/policy_arrays.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>

namespace backplane {
namespace {

using testing::HasSubstr;

// Two inputs, two actions; the policy's bytes: weight [2, 2] and bias [2] of float32, deviations [2] of float32, then a count,
// means [2] and variances [2] of float64.
constexpr char kForm[] = R"({"kind": "mlp", "dtype": "float32", "activation": "tanh",
  "layers": [{"in": 2, "out": 2, "weight": 0, "bias": 16}], "log_std": {"at": 24, "count": 2},
  "normalizer": {"rule": "variance", "count": 32, "mean": 40, "variance": 56, "epsilon": 1e-8, "clip": 10, "least_deviation": 0},
  "head": {"kind": "continuous", "squash": false, "low": [-1, null], "high": [1, null]}})";
constexpr size_t kBytes = 72;

NumpyArray Numbers(std::vector<uint64_t> shape, std::vector<double> values) {
  return {std::move(shape), std::move(values), "", false};
}
NumpyArray Text(const char* text) { return {{}, {}, text, true}; }

std::map<std::string, NumpyArray> WholeArrays() {
  return {{"activation", Text("tanh")},
          {"head", Text("continuous")},
          {"layer.0.weight", Numbers({2, 2}, {1, 2, 3, 4})},
          {"layer.0.bias", Numbers({2}, {5, 6})},
          {"log_std", Numbers({2}, {-1, -2})},
          {"normalizer.count", Numbers({}, {100})},
          {"normalizer.mean", Numbers({2}, {0.25, 0.5})},
          {"normalizer.variance", Numbers({2}, {4, 9})},
          {"normalizer.epsilon", Numbers({}, {1e-8})},
          {"normalizer.clip", Numbers({}, {10})}};
}

std::vector<std::byte> Filled(const std::map<std::string, NumpyArray>& arrays, const char* form = kForm) {
  std::vector<std::byte> policy(kBytes);
  FillPolicy(nlohmann::json::parse(form), arrays, &policy);
  return policy;
}

std::string WhyRejected(const std::map<std::string, NumpyArray>& arrays, const char* form = kForm) {
  try {
    Filled(arrays, form);
    return "accepted";
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

template <class T>
T At(const std::vector<std::byte>& policy, size_t at) {
  T value;
  std::memcpy(&value, policy.data() + at, sizeof value);
  return value;
}

TEST(PolicyArrays, StandWhereTheFormNamesThem) {
  const std::vector<std::byte> policy = Filled(WholeArrays());
  for (int i = 0; i < 6; ++i) EXPECT_EQ(At<float>(policy, 4 * i), static_cast<float>(i + 1));
  EXPECT_EQ(At<float>(policy, 28), -2.0F);
  EXPECT_EQ(At<double>(policy, 32), 100);
  EXPECT_EQ(At<double>(policy, 48), 0.5);
  EXPECT_EQ(At<double>(policy, 64), 9);
}

// Both forms have parts with the same outputs.
TEST(PolicyArrays, FillPartsOfAnActionOnlyIfTheyAreTheLearners) {
  nlohmann::json form = nlohmann::json::parse(kForm);
  form.erase("log_std");
  form["head"] = {{"kind", "several"},
                  {"parts",
                   {{{"action", "move"}, {"kind", "continuous"}, {"low", {-1}}, {"high", {nullptr}}},
                    {{"action", "lamp"}, {"kind", "bits"}, {"count", 1}}}}};
  auto arrays = WholeArrays();
  arrays.erase("log_std");
  arrays["head"] = Text("several");
  EXPECT_THAT(WhyRejected(arrays, form.dump().c_str()), HasSubstr("parts: expected this array, got none"));
  arrays["action.low"] = Numbers({1}, {-2}), arrays["action.high"] = Numbers({1}, {INFINITY});
  arrays["action.squash"] = Numbers({}, {0});
  arrays["parts"] = Text(R"([{"action": "move", "kind": "continuous", "first": 0, "at": 0, "count": 1},
                             {"action": "lamp", "kind": "bits", "first": 1, "at": 0, "count": 1}])");
  EXPECT_EQ(WhyRejected(arrays, form.dump().c_str()), "accepted");
  EXPECT_EQ(At<float>(Filled(arrays, form.dump().c_str()), 20), 6.0F);
  arrays["parts"] = Text(R"([{"action": "gear", "kind": "discrete", "count": 1, "sizes": [2]}])");
  EXPECT_THAT(WhyRejected(arrays, form.dump().c_str()),
              HasSubstr("parts: expected move (1 numbers), lamp (1 bits), got gear (choices of 2)"));
  arrays["parts"] = Text("[{");
  EXPECT_THAT(WhyRejected(arrays, form.dump().c_str()), HasSubstr("parts"));
}

TEST(PolicyArrays, RejectsArraysThatAreMissingLeftOverOrOfAnotherShape) {
  for (const auto& [name, array] : WholeArrays()) {
    if (name == "log_std") continue;  // the learner's own deviations stay
    auto arrays = WholeArrays();
    arrays.erase(name);
    EXPECT_THAT(WhyRejected(arrays), HasSubstr("expected")) << name;
    arrays = WholeArrays();
    arrays[name] = array.is_text ? Numbers({}, {1}) : Numbers({3}, {1, 2, 3});
    EXPECT_THAT(WhyRejected(arrays), HasSubstr(name + ": expected")) << name;
  }
  auto arrays = WholeArrays();
  arrays["features.0.weight"] = Numbers({1}, {1});
  EXPECT_THAT(WhyRejected(arrays), HasSubstr("features.0.weight: expected only arrays"));
}

TEST(PolicyArrays, RejectsNumbersThatAreNotFinite) {
  for (const auto& [name, array] : WholeArrays()) {
    if (array.is_text) continue;
    for (const double value : {std::nan(""), double{INFINITY}}) {
      auto arrays = WholeArrays();
      arrays[name].values[0] = value;
      EXPECT_NE(WhyRejected(arrays), "accepted") << name << " " << value;
    }
  }
  auto arrays = WholeArrays();
  arrays["layer.0.weight"].values[0] = 1e300;
  EXPECT_THAT(WhyRejected(arrays), HasSubstr("expected float32 numbers"));
}

TEST(PolicyArrays, RejectsAnotherRuleOfTheStatistics) {
  auto arrays = WholeArrays();
  arrays["normalizer.epsilon"].values[0] = 1e-4;
  EXPECT_THAT(WhyRejected(arrays), HasSubstr("normalizer.epsilon: expected 1e-08, as the learner has, got 0.0001"));
  arrays = WholeArrays();
  arrays["normalizer.clip"].values[0] = 5;
  EXPECT_THAT(WhyRejected(arrays), HasSubstr("obs_clip: 5"));
  arrays = WholeArrays();
  arrays["normalizer.scale"] = Numbers({2}, {0.5, 1.0 / 3});
  EXPECT_EQ(WhyRejected(arrays), "accepted");
  arrays["normalizer.scale"].values[1] = 0.5;
  EXPECT_THAT(WhyRejected(arrays), HasSubstr("normalizer.scale"));
}

TEST(PolicyArrays, RejectsAnotherNet) {
  auto arrays = WholeArrays();
  arrays["head"] = Text("discrete");
  EXPECT_THAT(WhyRejected(arrays), HasSubstr("head: expected continuous actions"));
  arrays = WholeArrays();
  arrays["action.squash"] = Numbers({}, {1});
  EXPECT_THAT(WhyRejected(arrays), HasSubstr("expected outputs that are clipped"));
  arrays = WholeArrays();
  arrays["critic.0.weight"] = Numbers({2, 1}, {1, 2});
  EXPECT_THAT(WhyRejected(arrays), HasSubstr("--without-critic"));
  EXPECT_THAT(WhyRejected(WholeArrays(), R"({"kind": "gru"})"), HasSubstr("expected a form of kind mlp, got gru"));
}

// A .npz of one array "a", float32 [1], as NumPy writes it.
std::string SmallNpz() {
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }";
  header += std::string(117 - header.size(), ' ') + "\n";
  std::string data =
      std::string("\x93NUMPY\x01\x00", 8) + std::string("\x76\x00", 2) + header + std::string("\x00\x00\x80\x3f", 4);
  const auto number = [](uint64_t value, int n) {
    std::string bytes;
    for (int i = 0; i < n; ++i) bytes += static_cast<char>(value >> (8 * i) & 255);
    return bytes;
  };
  const auto entry = [&](uint64_t crc) {
    return number(20, 2) + number(0, 8) + number(crc, 4) + number(data.size(), 4) + number(data.size(), 4) + number(5, 2);
  };
  uint32_t crc = 0xFFFFFFFF;
  for (const char c : data) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320 : 0);
  }
  crc = ~crc;
  const std::string local = std::string("PK\x03\x04") + entry(crc) + number(0, 2) + "a.npy" + data;
  const std::string directory = std::string("PK\x01\x02") + number(20, 2) + entry(crc) + number(0, 12) + number(0, 4) + "a.npy";
  return local + directory + "PK\x05\x06" + number(0, 4) + number(1, 2) + number(1, 2) + number(directory.size(), 4) +
         number(local.size(), 4) + number(0, 2);
}

TEST(ArrayFile, ReadsNumbers) {
  const auto arrays = ParseArrayFile(SmallNpz());
  ASSERT_EQ(arrays.size(), 1U);
  EXPECT_EQ(arrays.at("a").shape, (std::vector<uint64_t>{1}));
  EXPECT_EQ(arrays.at("a").values, (std::vector<double>{1}));
}

TEST(ArrayFile, RejectsEveryTruncationAndEveryFlippedBitOfItsNumbers) {
  const std::string whole = SmallNpz();
  for (size_t n = 0; n < whole.size(); ++n) EXPECT_THROW(ParseArrayFile(whole.substr(0, n)), std::runtime_error) << n;
  const size_t directory = whole.find("PK\x01\x02");
  for (size_t at = directory - 128; at < directory; ++at) {
    std::string flipped = whole;
    flipped[at] ^= 4;
    EXPECT_THROW(ParseArrayFile(flipped), std::runtime_error) << at;
  }
}

}  // namespace
}  // namespace backplane
