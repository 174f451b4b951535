// The scale of losses in float16: limits and saved states. tests/parity compares its course with torch.amp.GradScaler.
#include "rl/loss_scaler.hpp"

#include <gmock/gmock.h>

#include <cstring>

namespace backplane::rl {
namespace {

std::string Saved(const LossScaler& scaler) {
  std::string bytes;
  const bp_writer writer{sizeof(bp_writer), 0, &bytes, [](const bp_writer* w, const void* data, uint64_t n) {
                           static_cast<std::string*>(w->impl)->append(static_cast<const char*>(data), n);
                           return bp_status{BP_OK};
                         }};
  scaler.Save(bp::Writer(&writer));
  return bytes;
}

LossScaler Loaded(std::string bytes) {
  const bp_reader reader{sizeof(bp_reader), 0, &bytes, [](const bp_reader* r, void* out, uint64_t n) {
                           auto* left = static_cast<std::string*>(r->impl);
                           if (left->size() < n) return bp_status{BP_E_IO};
                           std::memcpy(out, left->data(), n);
                           left->erase(0, n);
                           return bp_status{BP_OK};
                         }};
  LossScaler scaler;
  scaler.Load(bp::Reader(&reader));
  return scaler;
}

TEST(LossScaler, ResumesWhereItWasSaved) {
  LossScaler one;
  for (int i = 0; i < 1500; ++i) one.Update(i % 700 == 3, "");
  LossScaler two = Loaded(Saved(one));
  for (int i = 0; i < 2100; ++i) {
    one.Update(false, ""), two.Update(false, "");
    ASSERT_EQ(one.scale(), two.scale());
  }
  EXPECT_EQ(Saved(one), Saved(two));
  EXPECT_EQ(two.skipped(), 3u);
  EXPECT_EQ(two.last_overflow(), 1404u);
}

TEST(LossScaler, EndsIfGradientsOverflowWithoutAScale) {
  LossScaler scaler;
  for (int i = 0; i < 16; ++i) scaler.Update(true, "");  // 2^16 became 1
  EXPECT_EQ(scaler.scale(), 1);
  try {
    scaler.Update(true, "a smaller lr may help");
    FAIL() << "no error";
  } catch (const bp::Error& e) {
    EXPECT_EQ(e.code(), BP_E_NUMERIC);
    EXPECT_THAT(e.what(), ::testing::EndsWith("even without a scaled loss; a smaller lr may help"));
  }
}

TEST(LossScaler, RejectsDamagedStates) {
  const std::string good = Saved(LossScaler());
  for (const double scale : {0.0, -1.0, static_cast<double>(INFINITY), static_cast<double>(NAN)}) {
    std::string bad = good;
    std::memcpy(bad.data(), &scale, sizeof scale);
    EXPECT_THROW(Loaded(bad), bp::Error) << scale;
  }
  std::string bad = good;
  const uint64_t skipped = 1;  // of 0 updates
  std::memcpy(bad.data() + 3 * sizeof(uint64_t), &skipped, sizeof skipped);
  EXPECT_THROW(Loaded(bad), bp::Error);
}

}  // namespace
}  // namespace backplane::rl
