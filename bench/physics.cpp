#include "physics.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <thread>

namespace {
const mjModel* g_model = nullptr;   // of the newest mjData
const mjModel* g_loaded = nullptr;  // copy of the newest model as loaded from its file
}  // namespace

// Overrides the library's function to learn any plugin's model.
extern "C" mjData* mj_makeData(const mjModel* model) {
  static const auto real = reinterpret_cast<mjData* (*)(const mjModel*)>(dlsym(RTLD_NEXT, "mj_makeData"));
  g_model = model;
  return real(model);
}

// As above. A plugin may disable parts of its model without changing a bit; the plain loop steps the file's model.
extern "C" mjModel* mj_loadXML(const char* name, const mjVFS* vfs, char* error, int error_size) {
  static const auto real =
      reinterpret_cast<mjModel* (*)(const char*, const mjVFS*, char*, int)>(dlsym(RTLD_NEXT, "mj_loadXML"));
  mjModel* const model = real(name, vfs, error, error_size);
  if (model) mj_deleteModel(const_cast<mjModel*>(g_loaded)), g_loaded = mj_copyModel(nullptr, model);
  return model;
}

namespace backplane::bench {
namespace {

constexpr size_t kBeforeState = sizeof(uint64_t) + sizeof(bp_rng);  // the layer's key, the row's random stream

std::vector<mjtNum> StateOf(Host& host, uint64_t row) {
  const std::vector<char> bytes = host.Snapshot(row);
  std::vector<mjtNum> state(mj_stateSize(g_model, mjSTATE_INTEGRATION));
  if (bytes.size() < kBeforeState + state.size() * sizeof(mjtNum))
    throw std::runtime_error(host.id() + ": its snapshots are too short to begin with an mjSTATE_INTEGRATION");
  std::memcpy(state.data(), bytes.data() + kBeforeState, state.size() * sizeof(mjtNum));
  return state;
}

}  // namespace

std::vector<std::vector<mjtNum>> States(Host& host) {
  std::vector<std::vector<mjtNum>> out;
  for (uint64_t r = 0; r < host.env().rows(); ++r) out.push_back(StateOf(host, r));
  return out;
}

Trace Record(const Setting& setting) {
  Setting one_step = setting;
  one_step.horizon = 1;
  one_step.threads = 1;
  Host host(one_step);
  if (g_model == nullptr || !host.options().contains("frame_skip"))
    throw std::runtime_error(host.id() + " is no MuJoCo task with a frame_skip");
  Trace trace;
  trace.model = {mj_copyModel(nullptr, g_loaded ? g_loaded : g_model),
                 [](const mjModel* model) { mj_deleteModel(const_cast<mjModel*>(model)); }};
  trace.rows = setting.rows;
  trace.chunk_rows = setting.chunk_rows;
  trace.horizon = setting.horizon;
  trace.frame_skip = host.options()["frame_skip"];
  trace.restarts.resize(setting.rows);
  // Does the first reset here, which the collector repeats with the same seeds and states.
  Rows first(setting.rows, test_support::kEnvSeed, BP_PURPOSE_ENV_EPISODE);
  for (uint64_t r = 0; r < setting.rows; ++r) first.StartEpisode(r);
  if (const bp_status s = host.env().Reset(1, 0, setting.rows, nullptr, first.seeds.data()); s != BP_OK)
    host.env().Fail(s, "reset");
  trace.start = States(host);
  for (uint64_t t = 0; t < setting.horizon; ++t) {
    host.FillActions(t);
    ChannelBuffer& action = *host.collector().Buffer(bp::FindChannel(host.env().spec(), BP_ROLE_ACTION)->name);
    const float* controls = action.at<float>(0, 0);
    trace.controls.insert(trace.controls.end(), controls, controls + setting.rows * action.row_elements());
    host.Collect();
    for (const Episode& e : host.collector().episodes()) trace.restarts[e.row].push_back({t, StateOf(host, e.row)});
  }
  trace.end = States(host);
  return trace;
}

Replay::Replay(const Trace& trace) : trace_(trace), model_(trace.model.get()) {
  for (uint64_t r = 0; r < trace.rows; ++r) {
    data_.push_back(mj_makeData(model_));
    mj_setState(model_, data_[r], trace.start[r].data(), mjSTATE_INTEGRATION);
  }
}

Replay::~Replay() {
  for (mjData* data : data_) mj_deleteData(data);
}

void Replay::Run(unsigned threads) {
  std::vector<std::thread> others;
  for (unsigned i = 1; i < threads; ++i)
    others.emplace_back([this, i, threads] { RunRows(trace_.rows * i / threads, trace_.rows * (i + 1) / threads); });
  RunRows(0, trace_.rows / threads);
  for (std::thread& thread : others) thread.join();
}

// In the host's order (chunks, then steps), so that both have the same data in the caches.
void Replay::RunRows(uint64_t begin, uint64_t end) {
  std::vector<size_t> restarted(trace_.rows, 0);
  for (uint64_t c = begin; c < end; c += trace_.chunk_rows)
    for (uint64_t t = 0; t < trace_.horizon; ++t)
      for (uint64_t r = c; r < std::min(c + trace_.chunk_rows, end); ++r) {
        StepRow(t, r);
        const auto& restarts = trace_.restarts[r];
        if (restarted[r] < restarts.size() && restarts[restarted[r]].t == t) Restart(r, restarts[restarted[r]++].state);
      }
}

void Replay::StepRow(uint64_t t, uint64_t r) {
  const auto nu = static_cast<size_t>(model_->nu);
  const float* controls = &trace_.controls[(t * trace_.rows + r) * nu];
  for (size_t i = 0; i < nu; ++i) data_[r]->ctrl[i] = controls[i];
  for (int k = 0; k < trace_.frame_skip; ++k) mj_step(model_, data_[r]);
}

void Replay::Restart(uint64_t r, const std::vector<mjtNum>& state) {
  mj_resetData(model_, data_[r]);
  mj_setState(model_, data_[r], state.data(), mjSTATE_INTEGRATION);
  mj_forward(model_, data_[r]);
  // mj_forward moves the solver's warm start, which is part of the state.
  mj_setState(model_, data_[r], state.data(), mjSTATE_INTEGRATION);
}

bool Replay::EndsAsRecorded() const {
  std::vector<mjtNum> state(mj_stateSize(model_, mjSTATE_INTEGRATION));
  for (uint64_t r = 0; r < trace_.rows; ++r) {
    mj_getState(model_, data_[r], state.data(), mjSTATE_INTEGRATION);
    if (std::memcmp(state.data(), trace_.end[r].data(), state.size() * sizeof(mjtNum)) != 0) return false;
  }
  return true;
}

nlohmann::json MuJoCoFacts() {
  Dl_info info{};
  dladdr(reinterpret_cast<void*>(&mj_step), &info);
  return {{"version", mj_versionString()}, {"file", info.dli_fname ? info.dli_fname : ""}};
}

}  // namespace backplane::bench
