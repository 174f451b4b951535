#include <chrono>
#include <cstdio>
#include <vector>

#include "torch_model.hpp"

namespace backplane::mappo {
namespace {

constexpr double kGain = 1.2;

// The fastest of three after a warm-up; a gradient ends on the host, so the device has finished.
double Milliseconds(const Minibatch& batch, const LossOptions& options, const float* params, int64_t size, bool amp,
                    TorchModel* model) {
  std::vector<float> gradient(size);
  model->UseAmp(amp ? Amp::kBf16 : Amp::kOff);
  double best = 0;
  for (int i = 0; i < 4; ++i) {
    const auto start = std::chrono::steady_clock::now();
    model->Gradient(batch, options, params, gradient.data());
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    if (i == 1 || (i > 1 && took.count() < best)) best = took.count();
  }
  return best;
}

}  // namespace

AmpChoice ChooseAmp(double plain_ms, double amp_ms) {
  const bool on = plain_ms >= kGain * amp_ms;
  char text[160];
  std::snprintf(text, sizeof text, "%s: a gradient took %.2f ms in float32, %.2f ms in bfloat16 (on from a gain of %.1f)",
                on ? "on" : "off", plain_ms, amp_ms, kGain);
  return {on, text};
}

void ProbeAmp(const bp_host* host, const Minibatch& batch, const LossOptions& options, const float* params, int64_t size,
              TorchModel* model) {
  const double plain = Milliseconds(batch, options, params, size, false, model),
               amp = Milliseconds(batch, options, params, size, true, model);
  const AmpChoice choice = ChooseAmp(plain, amp);
  model->UseAmp(choice.on ? Amp::kBf16 : Amp::kOff);
  bp::RecordFact(host, "use_amp", choice.text.c_str());
  host->log(host, BP_LOG_INFO, ("use_amp: auto is " + choice.text).c_str());
}

}  // namespace backplane::mappo
