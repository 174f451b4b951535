#include "python_learner.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "python_env/worker_source.hpp"

namespace backplane::python_env {
namespace {

using nlohmann::json;

constexpr uint64_t kMostStateBytes = (uint64_t{1} << 32) - 2;

const char* WordOfSpace(uint16_t space) {
  static constexpr const char* kWords[] = {"?", "box", "discrete", "multi_discrete", "multi_binary", "tokens", "bytes"};
  return kWords[space < std::size(kWords) ? space : 0];
}

std::string WordOfRole(uint16_t role) {
  std::string word = bp::RoleText(role);
  std::transform(word.begin(), word.end(), word.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c; });
  return word;
}

json Bounds(const double* bounds, uint64_t n) {
  json all = json::array();
  for (uint64_t i = 0; i < n; ++i)
    std::isfinite(bounds[i]) ? all.push_back(bounds[i]) : all.push_back(bounds[i] > 0 ? "inf" : "-inf");
  return all;
}

json Described(const bp_channel& c) {
  json nvec = json::array();
  const uint64_t n = c.space == BP_SPACE_MULTI_DISCRETE ? static_cast<uint64_t>(bp::ElementCount(c)) : 1;
  for (uint64_t i = 0; c.nvec != nullptr && i < n; ++i) nvec.push_back(c.nvec[i]);
  return {{"name", c.name},
          {"role", WordOfRole(c.role)},
          {"space", WordOfSpace(c.space)},
          {"scope", c.scope == BP_SCOPE_AGENT ? "agent" : "row"},
          {"shape", std::vector<int64_t>(c.shape, c.shape + c.ndim)},
          {"dtype", bp::DtypeText(c.dtype)},
          {"low", Bounds(c.low, c.n_bounds)},
          {"high", Bounds(c.high, c.n_bounds)},
          {"nvec", nvec}};
}

json Described(const bp_env_spec& env, uint64_t rows, uint64_t seed) {
  json channels = json::array();
  bp::ForEachChannel(env, [&](const bp_channel& channel) { channels.push_back(Described(channel)); });
  return {{"rows", rows},
          {"seed", seed},
          {"agents", env.max_agents},
          {"max_episode_steps", env.max_episode_steps},
          {"channels", channels}};
}

uint64_t ItemBytes(const bp_tensor& tensor) { return tensor.dtype.bits / 8u; }

// Bytes of one entry of dimension 0, which are contiguous.
uint64_t EntryBytes(const bp_tensor& tensor) {
  uint64_t bytes = ItemBytes(tensor);
  for (int32_t i = 1; i < tensor.ndim; ++i) bytes *= static_cast<uint64_t>(tensor.shape[i]);
  return bytes;
}

uint64_t Bytes(const bp_tensor& tensor) {
  return tensor.ndim == 0 ? ItemBytes(tensor) : EntryBytes(tensor) * static_cast<uint64_t>(tensor.shape[0]);
}

// The rows of a call in a tensor.
struct RowsOf {
  char* data;
  uint64_t bytes;
};
RowsOf RowsIn(const bp_tensor& tensor, uint16_t scope, const bp_act& act, uint64_t agents) {
  const uint64_t bytes = EntryBytes(tensor) * (scope == BP_SCOPE_AGENT ? agents : 1);
  return {static_cast<char*>(tensor.data) + act.begin * bytes, (act.end - act.begin) * bytes};
}

json Limit(uint64_t value) { return value == UINT64_MAX ? json(nullptr) : json(value); }

// The numbers that a plan may depend on only with `uses_budget`.
json LimitsFor(const bp_limits& limits, bool uses_budget) {
  json said = {{"rows", limits.rows}, {"chunk_max", limits.chunk_max}, {"micro_batch_max", Limit(limits.micro_batch_max)}};
  for (const char* name : {"progress", "env_steps_left", "iterations", "epochs"}) said[name] = nullptr;
  if (BP_HAS(&limits, items)) said["items"] = limits.items;
  if (BP_HAS(&limits, iterations_done)) said["iterations_done"] = limits.iterations_done;
  if (!uses_budget) return said;
  said["progress"] = limits.progress;
  said["env_steps_left"] = Limit(limits.env_steps_left);
  if (BP_HAS(&limits, epochs)) said["iterations"] = Limit(limits.iterations), said["epochs"] = Limit(limits.epochs);
  return said;
}

}  // namespace

std::string LearnerOptions::Interpreter() const {
  if (!python.empty()) return python;
  const char* const active = std::getenv("VIRTUAL_ENV");
  return active != nullptr && *active != '\0' ? std::string(active) + "/bin/python" : "python3";
}

PythonLearner::PythonLearner(const bp::LearnerSetup& setup, const LearnerOptions& options)
    : Learner(setup),
      uses_budget_(options.uses_budget),
      arena_(setup.host),
      workers_(setup.host, options.Interpreter(),
               {kLearnerSource, "the learner's process", arena_.host_memory(), static_cast<uint64_t>(options.threads)},
               options.timeout, 1, 1),
      metrics_(setup.host) {
  arena_.Use(&workers_);
  const json said = Ask('C', {{"file", options.file.string()},
                              {"class", options.class_name},
                              {"kwargs", json::parse(options.kwargs.json)},
                              {"threads", options.threads},
                              {"env", Described(*setup.env, setup.rows, setup.seed)}});
  Declare(*setup.env, said);
  RecordFacts(said);
}

void PythonLearner::Declare(const bp_env_spec& env, const json& said) {
  agents_ = env.max_agents;
  const auto scope_of = [](const json& channel) -> uint16_t {
    return channel.at(2) == "agent" ? BP_SCOPE_AGENT : BP_SCOPE_ROW;
  };
  for (const std::string name : said.at("act_in")) {
    spec_.ActIn(name);
    in_scopes_.push_back(bp::FindChannel(env, name)->scope);
  }
  for (const std::string name : said.at("keep")) spec_.Keep(name);
  for (const bp_channel* action : bp::FindChannels(env, BP_ROLE_ACTION)) {
    spec_.ActOut(*action);
    out_scopes_.push_back(action->scope);
  }
  for (const json& extra : said.at("extra")) {
    const std::string name = extra.at(0);
    spec_.Extra(name.c_str(), extra.at(1), scope_of(extra));
    out_scopes_.push_back(scope_of(extra));
  }
  for (const json& carry : said.at("carry")) {
    const std::string name = carry.at(0);
    spec_.Carry(name.c_str(), carry.at(1), scope_of(carry));
    in_scopes_.push_back(scope_of(carry));
    out_scopes_.push_back(scope_of(carry));
  }
  spec_.set_params(said.at("n_params"));
  spec_.set_evaluation_rows(said.at("evaluation_rows"));
  spec_.set_flags((said.at("obs_moments") ? BP_LEARNER_OBS_MOMENTS : 0) |
                  (said.at("state_large") ? BP_LEARNER_STATE_LARGE : 0));
  keeps_state_ = said.at("saves");
  for (const std::string metric : said.at("metrics")) metrics_.Declare({metric.c_str()});
}

void PythonLearner::RecordFacts(const json& said) {
  for (const auto& [name, version] : said.at("versions").items())
    bp::RecordFact(host(), ("version/" + name).c_str(), version.get_ref<const std::string&>().c_str());
}

json PythonLearner::Ask(char kind, const json& request) {
  const std::string answer = workers_.AskAll(kind, {request.dump()}).front();
  json said = json::parse(answer, nullptr, /*allow_exceptions=*/false);
  if (said.is_discarded())
    throw bp::Error(BP_E_INTERNAL, "expected JSON from the learner's process, got: " + answer.substr(0, 200));
  return said;
}

void PythonLearner::Plan(const bp_limits& limits, bp_request* out_request) {
  const json said = Ask('P', LimitsFor(limits, uses_budget_));
  out_request->kind = said.at("kind");
  const auto number = [&](const char* name) { return said.value(name, uint64_t{0}); };
  const auto word = [&](const char* name) { return (word_ = said.at(name)).c_str(); };
  switch (out_request->kind) {
    case BP_REQ_ROLLOUT:
      out_request->u.rollout = {number("horizon"), number("policy_version"), number("part")};
      out_request->u.rollout.policy_version = version_;
      break;
    case BP_REQ_EVALUATE:
      seeds_ = said.at("seeds").get<std::vector<uint64_t>>();
      out_request->u.evaluate = {number("candidates"), std::max<uint64_t>(number("episodes_each"), 1), number("chunk"),
                                 number("max_steps"), seeds_.data()};
      if (seeds_.size() != out_request->u.evaluate.candidates * out_request->u.evaluate.episodes_each)
        throw bp::Error(BP_E_INVALID_ARG,
                        "plan: evaluate: expected a seed per candidate and episode, got " + std::to_string(seeds_.size()));
      break;
    case BP_REQ_DATA:
      out_request->u.data = {number("micro_batch"), number("group_rows"),
                             number("sort") * BP_DATA_SORT + number("drop_last") * BP_DATA_DROP_LAST};
      break;
    case BP_REQ_TICK: out_request->u.tick = {word("phase"), 0}; break;
    case BP_REQ_SAVE: out_request->u.save = {word("tag")}; break;
    default: break;
  }
}

json PythonLearner::Given(const char* name, const bp_tensor& tensor) {
  std::vector<int64_t> shape(tensor.shape, tensor.shape + tensor.ndim), strides(tensor.strides, tensor.strides + tensor.ndim);
  uint64_t place = Bytes(tensor) > 0 ? arena_.PlaceOfHost(tensor.data) : 0;
  if (place == BP_SHARED_NONE) {
    place = arena_.Place(&delivered_, Bytes(tensor));
    const uint64_t entry = tensor.ndim == 0 ? ItemBytes(tensor) : EntryBytes(tensor), n = Bytes(tensor) / entry;
    const uint64_t apart = tensor.ndim == 0 ? entry : static_cast<uint64_t>(tensor.strides[0]) * ItemBytes(tensor);
    for (uint64_t i = 0; i < n; ++i)
      std::memcpy(arena_.At(place) + i * entry, static_cast<const char*>(tensor.data) + i * apart, entry);
    if (tensor.ndim > 0) strides[0] = static_cast<int64_t>(entry / ItemBytes(tensor));
  }
  for (int64_t& stride : strides) stride *= static_cast<int64_t>(ItemBytes(tensor));
  return {{"name", name}, {"dtype", bp::DtypeText(tensor.dtype)}, {"shape", shape}, {"strides", strides}, {"place", place}};
}

void PythonLearner::Consume(const bp::Delivery& delivery) {
  const bp_delivery& raw = delivery.raw();
  uint64_t to_copy = 0;
  for (uint64_t i = 0; i < raw.n_tensors; ++i)
    if (arena_.PlaceOfHost(raw.tensors[i]->data) == BP_SHARED_NONE) to_copy += Arena::Room(Bytes(*raw.tensors[i]));
  // The tensors of a group stay valid until its last delivery.
  if (raw.n_tensors > 0) arena_.Reset(&delivered_, to_copy, /*keep=*/raw.kind == BP_REQ_DATA && raw.index > 0);
  json tensors = json::array();
  for (uint64_t i = 0; i < raw.n_tensors; ++i) tensors.push_back(Given(raw.names[i], *raw.tensors[i]));
  const json recorded = Ask('D', {{"kind", raw.kind},
                                  {"index", raw.index},
                                  {"count", raw.count},
                                  {"last_in_group", (raw.flags & BP_DELIVERY_LAST_IN_GROUP) != 0},
                                  {"probe", (raw.flags & BP_DELIVERY_PROBE) != 0},
                                  {"group_weight", raw.group_weight},
                                  {"env_steps", raw.env_steps},
                                  {"tensors", tensors}});
  for (const json& metric : recorded)
    // Unlike std::stod, strtod accepts subnormal numbers.
    metrics_.Record(metric.at(0).get_ref<const std::string&>().c_str(),
                    std::strtod(metric.at(1).get_ref<const std::string&>().c_str(), nullptr));
  if (raw.kind == BP_REQ_ROLLOUT) ++version_;
}

void PythonLearner::Act(const bp_act& act) {
  struct Copied {
    char* host;
    uint64_t place, bytes;
  };
  const uint64_t n_in = in_scopes_.size(), n_out = out_scopes_.size();
  std::vector<RowsOf> rows;
  for (uint64_t i = 0; i < n_in; ++i) rows.push_back(RowsIn(*act.in[i], in_scopes_[i], act, agents_));
  for (uint64_t i = 0; i < n_out; ++i) rows.push_back(RowsIn(*act.out[i], out_scopes_[i], act, agents_));
  const uint64_t n_candidates = act.candidate != nullptr ? act.end - act.begin : 0;
  uint64_t to_copy = Arena::Room(n_candidates * sizeof(int32_t));
  std::vector<uint64_t> places;
  for (const RowsOf& each : rows) {
    places.push_back(arena_.PlaceOfHost(each.data));
    if (places.back() == BP_SHARED_NONE) to_copy += Arena::Room(each.bytes);
  }
  arena_.Reset(&acted_, to_copy);
  std::vector<Copied> outputs;
  for (uint64_t i = 0; i < rows.size(); ++i) {
    if (places[i] != BP_SHARED_NONE) continue;
    places[i] = arena_.Place(&acted_, rows[i].bytes);
    if (i < n_in)
      std::memcpy(arena_.At(places[i]), rows[i].data, rows[i].bytes);
    else
      outputs.push_back({rows[i].data, places[i], rows[i].bytes});
  }
  uint64_t candidates = BP_SHARED_NONE;
  if (n_candidates > 0) {
    candidates = arena_.Place(&acted_, n_candidates * sizeof(int32_t));
    std::memcpy(arena_.At(candidates), act.candidate + act.begin, n_candidates * sizeof(int32_t));
  }
  std::vector<uint64_t> message = {act.begin, act.end, act.flags, act.seed, act.step, act.row_base, candidates};
  message.insert(message.end(), places.begin(), places.end());
  workers_.Ask(0, 'A', {reinterpret_cast<const char*>(message.data()), message.size() * sizeof(uint64_t)});
  for (const Copied& output : outputs) std::memcpy(output.host, arena_.At(output.place), output.bytes);
}

void PythonLearner::Save(const bp::Writer& writer) const {
  const std::string state = workers_.AskAll('G', {""}).front();
  writer.Put(version_);
  writer.PutAll(state.data(), state.size());
}

void PythonLearner::Load(const bp::Reader& reader) {
  version_ = reader.Get<uint64_t>();
  const auto bytes = reader.Get<uint64_t>();
  if (bytes > kMostStateBytes)
    throw bp::Error(BP_E_INVALID_ARG, "the saved state has an impossible length: " + std::to_string(bytes) + " bytes");
  std::string state;
  for (constexpr uint64_t kPortion = 1 << 20; state.size() < bytes;) {  // allocate only for data that exist
    const size_t before = state.size();
    state.resize(before + std::min(kPortion, bytes - before));
    reader.Bytes(state.data() + before, state.size() - before);
  }
  workers_.AskAll('U', {state});
}

}  // namespace backplane::python_env
