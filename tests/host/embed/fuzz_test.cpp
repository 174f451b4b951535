// No sequence of valid and invalid calls may crash. For a longer run with AddressSanitizer:
//   BACKPLANE_EMBED_FUZZ_S=600 build/asan/tests/embed_test --gtest_filter=Fuzz.*
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <thread>

#include "env.hpp"

namespace backplane::embed_test {
namespace {

class Fuzzer {
 public:
  explicit Fuzzer(uint64_t seed) : draw_(seed) {}

  void Call() {
    switch (Below(20)) {
      case 0: return Open();
      case 1: return Close();
      case 2: return Told(bp_embed_reset(Handle(), Below(3) == 0 ? nullptr : Mask(), Below(2) == 0 ? nullptr : seeds_));
      case 3: return Told(bp_embed_autoreset(Handle(), static_cast<int32_t>(Below(5)) - 1));
      case 4: return Told(bp_embed_check_actions(Handle(), static_cast<int32_t>(Below(2))));
      case 5: return Told(bp_embed_seed(Handle(), draw_()));
      case 6: return Told(bp_embed_step_send(Handle()));
      case 7: return Told(bp_embed_step_wait(Handle()));
      case 8: return Save();
      case 9: return Load();
      case 10: return GetState();
      case 11: return SetState();
      case 12: return Spec();
      case 13: return Actions();
      case 14: return Tensor();
      case 15: return Told(bp_embed_time_limit(Handle(), Below(3) == 0 ? draw_() : Below(6)));
      case 16: return Picture();
      default: return Told(bp_embed_step(Handle()));
    }
  }
  void CloseAll() {
    for (bp_embed* handle : open_) bp_embed_close(handle);
    open_.clear();
  }

 private:
  static constexpr uint64_t kMostRows = 24;

  uint64_t Below(uint64_t n) { return draw_() % n; }
  // Usually an open env; else a closed one, or none.
  bp_embed* Handle() {
    if (open_.empty() || Below(20) == 0) return reinterpret_cast<bp_embed*>(Below(2) == 0 ? draw_() : last_closed_);
    return open_[Below(open_.size())];
  }
  static void Told(bp_status status) {
    ASSERT_LE(status, BP_OK);
    ASSERT_EQ(status == BP_OK, bp_embed_error()[0] == '\0') << status << ": " << bp_embed_error();
  }
  void Open() {
    if (open_.size() >= 4) return Close();
    static constexpr const char* kIds[] = {
      "cartpole",
      "pendulum",
      "mountain_car_continuous",
      "uav_grid",
      "CartPole-v1",
      "none",
      "",
      nullptr
#if defined(HAS_MUJOCO)
      ,
      "ant"
#endif
    };
    static constexpr const char* kOptions[] = {nullptr,
                                               nullptr,
                                               nullptr,
                                               "{}",
                                               "{\"max_episode_steps\": 3}",
                                               "{\"max_episode_steps\": 0}",
                                               "[",
                                               "\"\\u0000\"",
                                               "{\"a\": {\"b\": []}}",
                                               "{\"max_episode_steps\": 1e400}"};
    static constexpr const char* kFiles[] = {nullptr, nullptr, nullptr, nullptr, RESETS_ITSELF, "/dev/null", "", "/"};
    bp_embed* handle = nullptr;
    const char* const so = kFiles[Below(std::size(kFiles))];
    const char* const id = so && Below(2) == 0 ? nullptr : kIds[Below(std::size(kIds))];
    Told(bp_embed_open(so, id, kOptions[Below(std::size(kOptions))], Below(kMostRows + 1), draw_(),
                       static_cast<uint32_t>(Below(4)), Below(50) == 0 ? nullptr : &handle));
    if (handle) open_.push_back(handle);
  }
  void Picture() {
    bp_picture picture{};
    const bp_status status = bp_embed_render(Handle(), Below(kMostRows), Below(20) == 0 ? nullptr : &picture);
    Told(status);
    if (status == BP_OK) {
      ASSERT_GT(std::string(static_cast<const char*>(picture.frame), picture.frame_bytes).size(), 0u);
    }
  }
  void Close() {
    if (open_.empty()) return;
    const uint64_t i = Below(open_.size());
    last_closed_ = reinterpret_cast<uintptr_t>(open_[i]);
    Told(bp_embed_close(open_[i]));
    open_.erase(open_.begin() + static_cast<int64_t>(i));
  }
  const uint8_t* Mask() {
    for (uint8_t& one : mask_) one = static_cast<uint8_t>(Below(3));
    for (uint64_t& seed : seeds_) seed = draw_();
    return mask_;
  }
  void Save() {
    uint64_t n = 0;
    saved_.resize(Below(2) == 0 ? 1 << 20 : Below(5000));
    const bp_status status = bp_embed_save(Handle(), Below(4) == 0 ? nullptr : saved_.data(), saved_.size(), &n);
    Told(status);
    saved_.resize(status == BP_OK ? std::min<uint64_t>(n, saved_.size()) : 0);
  }
  // Sometimes cut or with a changed byte. Limited to the host's part, because an env may trust its own bytes.
  void Load() {
    std::vector<char> bytes = saved_;
    if (!bytes.empty() && Below(3) == 0) bytes.resize(Below(bytes.size()));
    if (!bytes.empty() && Below(3) == 0) bytes[Below(std::min<uint64_t>(bytes.size(), 40))] = static_cast<char>(draw_());
    Told(bp_embed_load(Handle(), bytes.empty() ? nullptr : bytes.data(), bytes.size()));
  }
  const char* Part() {
    static constexpr const char* kParts[] = {"state", "qpos", "qvel", "state", "", "stat"};
    return Below(30) == 0 ? nullptr : kParts[Below(std::size(kParts))];
  }
  double Number() {
    static constexpr double kOdd[] = {
        0, -0.0, 1e300, -1e300, 1e-320, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()};
    return Below(8) == 0 ? kOdd[Below(std::size(kOdd))] : static_cast<double>(Below(2001)) / 1000 - 1;
  }
  void GetState() {
    double out[40];
    uint64_t n = 0;
    Told(bp_embed_get_state(Handle(), Below(kMostRows), Part(), Below(20) == 0 ? nullptr : out, Below(41), &n));
  }
  void SetState() {
    static constexpr uint64_t kSizes[] = {2, 4, 15, 14, 0, 3};
    double numbers[2][40];
    for (auto& part : numbers)
      for (double& number : part) number = Number();
    const char* const names[] = {Part(), Part()};
    const double* const values[] = {numbers[0], Below(30) == 0 ? nullptr : numbers[1]};
    const uint64_t sizes[] = {kSizes[Below(std::size(kSizes))], kSizes[Below(std::size(kSizes))]};
    Told(bp_embed_set_state(Handle(), Below(kMostRows), Below(3), names, values, sizes));
  }
  void Spec() {
    const char* const text = bp_embed_spec(Handle());
    ASSERT_TRUE(text == nullptr || text[0] == '{');
  }
  void Tensor() {
    static constexpr const char* kChannels[] = {"obs", "action", "final_obs", "state", "ep_length", "ob", "", nullptr};
    bp_view view;
    Told(bp_embed_tensor(Handle(), kChannels[Below(std::size(kChannels))], Below(30) == 0 ? nullptr : &view));
  }
  // Any number, including ones that are no valid action.
  void Actions() {
    bp_view view{};
    if (bp_embed_tensor(Handle(), "action", &view) != BP_OK) return;
    int64_t n = 1;
    for (int32_t i = 0; i < view.ndim; ++i) n *= view.shape[i];
    const bool odd = Below(6) == 0;
    for (int64_t i = 0; i < n; ++i) {
      if (view.code == 2)
        static_cast<float*>(view.data)[i] = static_cast<float>(odd ? Number() : static_cast<double>(Below(3)) - 1);
      else
        static_cast<int32_t*>(view.data)[i] = odd ? static_cast<int32_t>(draw_()) : static_cast<int32_t>(Below(2));
    }
  }

  std::mt19937_64 draw_;
  std::vector<bp_embed*> open_;
  uintptr_t last_closed_ = 0;
  std::vector<char> saved_;
  uint8_t mask_[kMostRows] = {};
  uint64_t seeds_[kMostRows] = {};
};

TEST(Fuzz, NoOrderOfCallsCrashes) {
  const char* const asked = std::getenv("BACKPLANE_EMBED_FUZZ_S");
  const double seconds = asked ? std::atof(asked) : 2;
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  uint64_t calls = 0;
  for (uint64_t seed = 1; std::chrono::steady_clock::now() < end && !HasFatalFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Fuzzer fuzzer(seed);
    for (int i = 0; i < 300 && !HasFatalFailure(); ++i, ++calls) fuzzer.Call();
    fuzzer.CloseAll();
  }
  RecordProperty("calls", static_cast<int>(calls));
  std::printf("%llu calls\n", static_cast<unsigned long long>(calls));
}

}  // namespace
}  // namespace backplane::embed_test
