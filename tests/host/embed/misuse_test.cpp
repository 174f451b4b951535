// Invalid calls return an error with a message and change nothing.
#include <gmock/gmock.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <random>
#include <thread>

#include "env.hpp"

namespace backplane::embed_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(Handle, StaysInvalidAfterClose) {
  Env first("cartpole");
  bp_embed* const old = first.handle;
  ASSERT_EQ(bp_embed_close(first.handle), BP_OK);
  first.handle = nullptr;
  const Env second("cartpole");  // may get the same memory
  for (bp_embed* const handle : {old, static_cast<bp_embed*>(nullptr), reinterpret_cast<bp_embed*>(&first)}) {
    EXPECT_EQ(bp_embed_step(handle), BP_E_INVALID_ARG);
    EXPECT_STREQ(bp_embed_error(), "expected the handle of an open env, got one that is closed or was never opened");
    EXPECT_EQ(bp_embed_close(handle), BP_E_INVALID_ARG);
    EXPECT_EQ(bp_embed_spec(handle), nullptr);
  }
}

TEST(Handle, IsUsedByOneThreadAtATime) {
  Env env("pendulum", 256, nullptr, 1, 2);
  env.Reset();
  std::atomic<bool> stop{false};
  std::atomic<int> done{0}, refused{0};
  const auto step = [&] {
    while (!stop) {
      const bp_status status = bp_embed_step(env.handle);
      if (status == BP_OK) {
        ++done;
      } else {
        EXPECT_THAT(bp_embed_error(), HasSubstr("another call is using this handle"));
        ++refused;
      }
    }
  };
  std::thread a(step), b(step);
  while (done < 200 || refused < 1) std::this_thread::yield();
  stop = true;
  a.join();
  b.join();
}

bp_embed* g_stepped = nullptr;
std::atomic<int> g_inside{0}, g_handled{0};

// A signal handler interrupts a step on the same thread.
TEST(Handle, IsNotUsedBelowASignalHandler) {
  Env env("uav_grid", 512);
  env.Reset();
  g_stepped = env.handle;
  struct sigaction action {
  }, before{};
  action.sa_handler = +[](int) {
    if (bp_embed_step(g_stepped) == BP_E_INVALID_ARG && bp_embed_error()[0] != '\0') ++g_inside;
    ++g_handled;
  };
  sigaction(SIGUSR1, &action, &before);
  const pthread_t stepping = pthread_self();
  std::atomic<bool> stop{false};
  std::thread sender([&] {
    while (!stop) {
      const int handled = g_handled;
      pthread_kill(stepping, SIGUSR1);
      while (!stop && g_handled == handled) usleep(50);  // signals without pauses would keep a slow thread busy
      usleep(200);
    }
  });
  for (int i = 0; i < 20000 && g_inside < 20; ++i) {
    const bp_status status = bp_embed_step(env.handle);
    // The handler may also run between two calls, where it is allowed.
    EXPECT_TRUE(status == BP_OK || std::string(bp_embed_error()).find("using this handle") != std::string::npos);
  }
  stop = true;
  sender.join();
  sigaction(SIGUSR1, &before, nullptr);
  EXPECT_GE(g_inside, 20);
}

TEST(Handle, BelongsToTheProcessThatOpenedIt) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the thread sanitizer starts no threads after a fork of several";
#endif
  Env env("cartpole", 4, nullptr, 1, 2);
  env.Reset();
  const pid_t child = fork();
  if (child == 0) {
    const bool refused = bp_embed_step(env.handle) == BP_E_INVALID_ARG &&
                         std::string(bp_embed_error()).find("opened before fork()") != std::string::npos &&
                         bp_embed_close(env.handle) == BP_E_INVALID_ARG;
    bp_embed* own = nullptr;
    const bool opened = bp_embed_open(nullptr, "cartpole", nullptr, 4, 1, 2, &own) == BP_OK &&
                        bp_embed_reset(own, nullptr, nullptr) == BP_OK && bp_embed_step(own) == BP_OK;
    _exit(refused && opened ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  env.Step();
}

TEST(Handle, StaysOpenWhileAStepIsUnderWay) {
  Env env("cartpole", 4);
  env.Reset();
  EXPECT_EQ(bp_embed_step_wait(env.handle), BP_E_INVALID_ARG);
  EXPECT_STREQ(bp_embed_error(), "expected a pending step, got none\nhint: call bp_embed_step_send first");
  ASSERT_EQ(bp_embed_step_send(env.handle), BP_OK);
  for (const bp_status status :
       {bp_embed_step(env.handle), bp_embed_step_send(env.handle), bp_embed_reset(env.handle, nullptr, nullptr),
        bp_embed_autoreset(env.handle, 1), bp_embed_seed(env.handle, 1)}) {
    EXPECT_EQ(status, BP_E_INVALID_ARG);
    EXPECT_STREQ(bp_embed_error(), "expected no pending step, got one\nhint: call bp_embed_step_wait first");
  }
  ASSERT_EQ(bp_embed_close(env.handle), BP_OK) << "which waits for it";
  env.handle = nullptr;
}

TEST(Actions, NameValuesThatAreNotFinite) {
  Env env("pendulum", 3);
  env.Reset();
  const View<float> action = env.Of<float>("action");
  const std::string before = env.Bytes("obs");
  action(1) = std::nanf("");
  EXPECT_EQ(bp_embed_step(env.handle), BP_E_NUMERIC);
  EXPECT_STREQ(bp_embed_error(), "action[0] of row 1: expected a finite number, got nan");
  EXPECT_EQ(bp_embed_step_send(env.handle), BP_E_NUMERIC);
  EXPECT_EQ(env.Bytes("obs"), before);
  action(1) = 0;
  env.Step();
  // Without the check, NaN would reach the env and its reward.
  action(1) = std::nanf("");
  ASSERT_EQ(bp_embed_check_actions(env.handle, 0), BP_OK);
  EXPECT_EQ(bp_embed_step(env.handle), BP_E_NUMERIC);
  EXPECT_STREQ(bp_embed_error(), "env.pendulum: step: the reward of row 1 is not a finite number");
  EXPECT_EQ(bp_embed_step(env.handle), BP_E_INVALID_ARG) << "a failed step ends all episodes";
}

TEST(Names, SuggestTheNearest) {
  const Env env("cartpole");
  bp_view view;
  EXPECT_EQ(bp_embed_tensor(env.handle, "final_ob", &view), BP_E_INVALID_ARG);
  EXPECT_STREQ(bp_embed_error(), "env.cartpole has no channel 'final_ob'; did you mean 'final_obs'?");
  EXPECT_EQ(bp_embed_tensor(env.handle, nullptr, &view), BP_E_INVALID_ARG);
  EXPECT_STREQ(bp_embed_error(), "channel: expected a pointer, got NULL");
  EXPECT_EQ(bp_embed_tensor(env.handle, "obs", nullptr), BP_E_INVALID_ARG);
}

class SaveTest : public testing::TestWithParam<int32_t> {
 protected:
  static std::vector<char> Save(const Env& env) {
    uint64_t n = 0;
    EXPECT_EQ(bp_embed_save(env.handle, nullptr, 0, &n), BP_OK) << bp_embed_error();
    std::vector<char> bytes(n);
    EXPECT_EQ(bp_embed_save(env.handle, bytes.data(), n, &n), BP_OK);
    return bytes;
  }
  static std::string Play(const Env& env, int steps) {
    std::string all;
    std::mt19937 draw(3);
    for (int t = 0; t < steps; ++t) {
      for (uint64_t r = 0; r < 8; ++r) env.Of<int32_t>("action")(r) = static_cast<int32_t>(draw() % 2);
      env.Step();
      for (const char* name : {"obs", "reward", "terminated", "truncated"}) all += env.Bytes(name);
    }
    return all;
  }
};

TEST_P(SaveTest, ResumesBitForBit) {
  Env env("cartpole", 8), other("cartpole", 8, nullptr, 99, 2);
  for (const Env* one : {&env, &other}) ASSERT_EQ(bp_embed_autoreset(one->handle, GetParam()), BP_OK);
  env.Reset();
  other.Reset();
  Play(env, 30);
  const std::vector<char> saved = Save(env);
  const std::string obs = env.Bytes("obs"), expected = Play(env, 60);
  ASSERT_EQ(bp_embed_load(other.handle, saved.data(), saved.size()), BP_OK) << bp_embed_error();
  EXPECT_EQ(other.Bytes("obs"), obs);
  EXPECT_EQ(Play(other, 60), expected);
}

INSTANTIATE_TEST_SUITE_P(, SaveTest, testing::Values(BP_AUTORESET_SAME_STEP, BP_AUTORESET_NEXT_STEP));

TEST_F(SaveTest, RejectsStatesThatDoNotFit) {
  Env env("cartpole", 2), three("cartpole", 3), longer("cartpole", 2, R"({"max_episode_steps": 7})");
  uint64_t n = 0;
  EXPECT_EQ(bp_embed_save(env.handle, nullptr, 0, &n), BP_E_INVALID_ARG) << "before the first reset";
  for (const Env* one : {&env, &three, &longer}) one->Reset();
  std::vector<char> saved = Save(env);
  EXPECT_EQ(bp_embed_save(env.handle, saved.data(), saved.size() - 1, &n), BP_E_INVALID_ARG);
  EXPECT_THAT(bp_embed_error(), HasSubstr("save: expected room for"));
  EXPECT_EQ(bp_embed_load(three.handle, saved.data(), saved.size()), BP_E_INVALID_ARG);
  EXPECT_STREQ(bp_embed_error(), "env.cartpole: load: expected 3 rows, got 2");
  EXPECT_EQ(bp_embed_load(longer.handle, saved.data(), saved.size()), BP_E_INVALID_ARG);
  EXPECT_STREQ(bp_embed_error(), "env.cartpole: load: the bytes are from a different env, version or options");
  for (const size_t length : {size_t{0}, size_t{7}, saved.size() - 1}) {
    EXPECT_EQ(bp_embed_load(env.handle, saved.data(), length), BP_E_INVALID_ARG) << length;
  }
  saved[0] = 'x';
  EXPECT_EQ(bp_embed_load(env.handle, saved.data(), saved.size()), BP_E_INVALID_ARG);
  EXPECT_STREQ(bp_embed_error(), "env.cartpole: load: expected bytes of bp_embed_save, got different ones");
  ASSERT_EQ(bp_embed_autoreset(env.handle, BP_AUTORESET_NEXT_STEP), BP_OK);
  saved[0] = 'b';
  EXPECT_EQ(bp_embed_load(env.handle, saved.data(), saved.size()), BP_E_INVALID_ARG);
  EXPECT_STREQ(bp_embed_error(), "env.cartpole: load: expected the autoreset mode 1, got 0");
}

// This machine's memory determines the number: 16 bytes per row are less than the observations need.
TEST(Rows, BeyondTheMemoryAreRejectedBeforeItIsTouched) {
  const auto pages = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)), page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t rows = std::min<uint64_t>(pages * page / 16, uint64_t{1} << 32);
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  bp_embed* handle = nullptr;
  EXPECT_EQ(bp_embed_open(nullptr, "cartpole", nullptr, rows, 1, 1, &handle), BP_E_OOM_HOST);
  getrusage(RUSAGE_SELF, &after);
  EXPECT_EQ(handle, nullptr);
  EXPECT_THAT(bp_embed_error(), testing::StartsWith("env.cartpole: rows: " + std::to_string(rows) + " rows need at least "));
  EXPECT_THAT(bp_embed_error(), HasSubstr(" GiB are available; at most "));
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 64 << 10) << "KiB";
  EXPECT_EQ(bp_embed_open(nullptr, "cartpole", nullptr, (uint64_t{1} << 32) + 1, 1, 1, &handle), BP_E_INVALID_ARG);
  EXPECT_THAT(bp_embed_error(), HasSubstr("rows: expected 1 to 4294967296, got 4294967297"));
  EXPECT_EQ(bp_embed_open(nullptr, "cartpole", nullptr, 2000, 1, 1, &handle), BP_OK) << bp_embed_error();
  EXPECT_EQ(bp_embed_close(handle), BP_OK);
}

// The caller's rounding mode does not change the env's numbers, and is restored afterwards.
#if defined(__x86_64__)
TEST(FloatMode, KeepsTheCallersAndChangesNoResult) {
  constexpr unsigned kFlush = 0x8040, kTowardsZero = 0x6000;
  Env plain("pendulum", 4, nullptr, 1, 1), flushed("pendulum", 4, nullptr, 1, 1);
  plain.Reset();
  for (int t = 0; t < 50; ++t) plain.Step();
  const unsigned before = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(before | kFlush | kTowardsZero);
  flushed.Reset();
  for (int t = 0; t < 50; ++t) flushed.Step();
  const unsigned after = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(before);
  EXPECT_EQ(after & (kFlush | kTowardsZero), kFlush | kTowardsZero);
  EXPECT_EQ(flushed.Bytes("obs"), plain.Bytes("obs"));
}
#endif

}  // namespace
}  // namespace backplane::embed_test
