#include "python_env/python_env.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>

#include "backplane/ext/gpus.h"
#include "python_env/worker_source.hpp"

namespace backplane::python_env {
namespace {

using nlohmann::json;

constexpr uint64_t kAlignment = 64;  // bytes
constexpr double kUsualStep_s = 1 / 30.0;

// States of a row's next episode, in the shared memory; worker/gymnasium_env.py and worker/vector_env.py set the last two.
enum NextEpisode : char { kUnknown = 0, kOffered = 1, kStarted = 2, kStartedAsItChose = 3 };

constexpr uint64_t kMostStateBytes = uint64_t{1} << 36;  // of a row

// Infinity is text, because JSON has no such number.
std::vector<double> Bounds(const json& said, const char* which) {
  std::vector<double> bounds;
  if (const auto found = said.find(which); found != said.end())
    for (const json& bound : *found)
      bounds.push_back(bound.is_string() ? std::stod(bound.get<std::string>()) : bound.get<double>());
  return bounds;
}

std::vector<Part> PartsIn(const json& said) {
  std::vector<Part> parts;
  for (const json& part : said.value("parts", json::array()))
    parts.push_back({part.at(0), part.at(1), part.at(2).get<std::vector<int64_t>>()});
  return parts;
}

// [name, agents] of each.
std::vector<bp::AgentGroup> GroupsIn(const json& said) {
  std::vector<bp::AgentGroup> groups;
  uint32_t first = 0;
  for (const json& group : said) {
    groups.push_back({group.at(0), first, group.at(1)});
    first += groups.back().agents;
  }
  return groups;
}

uint16_t RoleOf(const std::string& word) {
  static const std::map<std::string, uint16_t> kRoles = {{"obs", BP_ROLE_OBS},
                                                         {"state", BP_ROLE_STATE},
                                                         {"action", BP_ROLE_ACTION},
                                                         {"action_mask", BP_ROLE_ACTION_MASK},
                                                         {"alive", BP_ROLE_ALIVE},
                                                         {"info", BP_ROLE_INFO},
                                                         {"reward", BP_ROLE_REWARD},
                                                         {"terminated", BP_ROLE_TERMINATED},
                                                         {"truncated", BP_ROLE_TRUNCATED}};
  return kRoles.at(word);
}

uint16_t SpaceOf(const std::string& word) {
  static const std::map<std::string, uint16_t> kSpaces = {{"box", BP_SPACE_BOX},
                                                          {"discrete", BP_SPACE_DISCRETE},
                                                          {"multi_discrete", BP_SPACE_MULTI_DISCRETE},
                                                          {"multi_binary", BP_SPACE_MULTI_BINARY}};
  return kSpaces.at(word);
}

// To ours if theirs is an input, else to theirs.
template <class T>
void CopyRow(char* ours, T* theirs, uint64_t bytes) {
  if constexpr (std::is_const_v<T>)
    std::memcpy(ours, theirs, bytes);
  else
    std::memcpy(theirs, ours, bytes);
}

json Described(const std::string& answer) {
  json said = json::parse(answer, nullptr, /*allow_exceptions=*/false);
  if (!said.is_object())
    throw bp::Error(BP_E_INTERNAL, "expected the description of an env from worker 0, got: " + answer.substr(0, 200));
  return said;
}

uint64_t Elements(const std::vector<int64_t>& shape) {
  uint64_t n = 1;
  for (const int64_t side : shape) n *= static_cast<uint64_t>(side);
  return n;
}

}  // namespace

PythonEnv::PythonEnv(const bp_host* host, const std::string& python, double timeout_s, const json& request, uint64_t rows)
    : host_(host),
      rows_(rows),
      workers_(host, python, {kWorkerSource}, timeout_s, rows, request.at("kind") == "vector" ? 1 : WorkersFor(rows)),
      bounds_(host, request.at("out_of_bounds") == "error"),
      steps_whole_(request.at("kind") == "vector") {
  const uint64_t n = workers_.size();
  for (uint64_t w = 0, before = 0; w < n; ++w) {
    starts_.push_back(before);
    before += (rows - w + n - 1) / n;
  }
  for (uint64_t row = 0; row < rows; ++row) place_.push_back(starts_[row % n] + row / n);

  std::vector<std::string> requests;
  for (uint64_t w = 0; w < n; ++w) {
    json each = request;
    each.update({{"worker", w}, {"workers", n}, {"rows", rows}});
    requests.push_back(each.dump());
  }
  const json said = Described(workers_.AskAll('C', requests).front());
  spec_.MaxAgents(said.at("agents")).MaxEpisodeSteps(said.at("max_episode_steps"));  // the worker enforces the limit
  spec_.Groups(GroupsIn(said.at("groups")));
  for (const json& channel : said.at("channels")) AddChannel(channel);
  bounds_.NameAgents(said.at("agent_names"));
  MakeMemory(said.at("records"));
  RecordFacts(said);
  bp::UseGpu(host);  // the env's own process may do so
  for (const std::string warning : said.at("warnings")) host->log(host, BP_LOG_WARN, warning.c_str());
  const std::string not_kept = said.at("not_kept");
  keeps_state_ = not_kept.empty();
  draws_ = said.at("pictures");
  const double fps = said.at("fps");
  step_s_ = fps > 0 ? 1 / fps : kUsualStep_s;
  if (steps_whole_)
    host->log(host, BP_LOG_WARN,
              "a vector env steps all rows as one batch: its rows are not exact for any number of threads, and a resumed trial "
              "starts new episodes");
  else if (!keeps_state_)
    host->log(host, BP_LOG_INFO,
              ("a resumed trial starts new episodes, because its rows cannot be saved: " + not_kept).c_str());
}

PythonEnv::~PythonEnv() = default;

void PythonEnv::AddChannel(const json& said) {
  if (said.at("role") == "first") {
    with_first_.insert(said.at("of"));
    return;
  }
  bp::Channel channel;
  channel.role = RoleOf(said.at("role"));
  channel.name = said.at("name");
  channel.shape = said.at("shape").get<std::vector<int64_t>>();
  channel.space = SpaceOf(said.at("space"));
  channel.low = Bounds(said, "low"), channel.high = Bounds(said, "high");
  channel.scope = said.value("scope", "") == "agent" ? BP_SCOPE_AGENT : BP_SCOPE_ROW;
  if (said.contains("nvec")) channel.nvec = said["nvec"].get<std::vector<int64_t>>();
  channel.group = said.value("group", 0u);
  Shared shared{{}, channel.role, Elements(channel.shape), 0};
  if (channel.role == BP_ROLE_OBS)
    bounds_.Add({.channel = channels_.size(), .elements = shared.row_bytes, .parts = PartsIn(said)}, channel.low, channel.high);
  shared.row_bytes *= spec_.AgentsIn(channel);
  const bool is_action = channel.role == BP_ROLE_ACTION;
  const std::string type = said.at("dtype");
  if (type == "f32") {
    shared.row_bytes *= sizeof(float);
    if (is_action)
      shared.handle = spec_.Add<const float>(std::move(channel));
    else
      shared.handle = spec_.Add<float>(std::move(channel));
  } else if (type == "u8") {
    if (is_action)
      shared.handle = spec_.Add<const uint8_t>(std::move(channel));
    else
      shared.handle = spec_.Add<uint8_t>(std::move(channel));
  } else {
    shared.row_bytes *= sizeof(int32_t);
    shared.handle = spec_.Add<const int32_t>(std::move(channel));
  }
  channels_.push_back(shared);
}

void PythonEnv::MakeMemory(bool records) {
  uint64_t bytes = 0;
  const auto take = [&](uint64_t row_bytes) {
    const uint64_t at = bytes;
    bytes += (row_bytes * rows_ + kAlignment - 1) / kAlignment * kAlignment;
    return at;
  };
  json offsets = {{"seeds", seeds_at_ = take(sizeof(uint64_t))},
                  {"mask", mask_at_ = take(1)},
                  {"next_seeds", next_seeds_at_ = take(sizeof(uint64_t))},
                  {"next", next_at_ = take(1)}};
  used_seeds_.assign(rows_, 0);
  to_reset_.assign(rows_, 0);
  for (size_t c = 0; c < channels_.size(); ++c) {
    const std::string& name = spec_.channels[c].name;
    offsets[name] = channels_[c].offset = take(channels_[c].row_bytes);
    if (with_first_.contains(name)) offsets["first/" + name] = channels_[c].first = take(channels_[c].row_bytes);
  }
  memory_ = workers_.Share(bytes);
  const json layout = {{"bytes", bytes}, {"starts", starts_}, {"offsets", offsets}, {"records", records}};
  workers_.AskAll('L', std::vector(workers_.size(), layout.dump()));
}

void PythonEnv::RecordFacts(const json& said) {
  for (const auto& [name, version] : said.at("versions").items()) {
    bp::RecordFact(host_, ("version/" + name).c_str(), version.get_ref<const std::string&>().c_str());
    versions_ += name + " " + version.get<std::string>() + "\n";
  }
  if (const std::string parts = bounds_.Parts(); !parts.empty()) {
    bp::RecordFact(host_, "observations", parts.c_str());
    host_->log(host_, BP_LOG_INFO, parts.c_str());
  }
  bp::RecordFact(host_, "rows_are_saved", said.at("not_kept").get_ref<const std::string&>().empty() ? "true" : "false");
}

// Copies rows of an action into the shared memory, or of any other channel from it.
void PythonEnv::Copy(const Shared& shared, uint64_t offset, const bp::Slot& slot, uint64_t begin, uint64_t end,
                     const uint8_t* mask) const {
  std::visit(
      [&](const auto handle) {
        if (!slot.Has(handle)) return;  // unused INFO
        const auto rows = slot.Rows(handle);
        const auto first = rows[begin];
        const bool is_block = first.data() + (end - begin - 1) * first.size() == rows[end - 1].data();
        if (mask == nullptr && workers_.size() == 1 && is_block)  // as in the shared memory
          return CopyRow(At(offset, shared.row_bytes, begin), first.data(), (end - begin) * shared.row_bytes);
        for (uint64_t r = begin; r < end; ++r) {
          if (mask != nullptr && mask[r] == 0) continue;
          CopyRow(At(offset, shared.row_bytes, r), rows[r].data(), shared.row_bytes);
        }
      },
      shared.handle);
}

void PythonEnv::CheckObservations(uint64_t begin, uint64_t end, const uint8_t* mask) {
  const auto alive = std::find_if(channels_.begin(), channels_.end(), [](const Shared& s) { return s.role == BP_ROLE_ALIVE; });
  for (const BoundedChannel& bounded : bounds_.channels()) {
    const Shared& shared = channels_[bounded.channel];
    const bool is_float = std::holds_alternative<bp::Handle<float>>(shared.handle);
    const bp::Channel& channel = spec_.channels[bounded.channel];
    const uint64_t agents = spec_.AgentsIn(channel), first = channel.group > 0 ? spec_.groups[channel.group - 1].first : 0;
    const uint64_t bytes = shared.row_bytes / agents;
    for (uint64_t r = begin; r < end; ++r) {
      if (mask != nullptr && mask[r] == 0) continue;
      for (uint64_t a = 0; a < agents; ++a) {
        if (alive != channels_.end() && At(alive->offset, alive->row_bytes, r)[first + a] == 0) continue;
        const char* const at = At(shared.offset, shared.row_bytes, r) + a * bytes;
        is_float ? bounds_.Check(bounded, r, first + a, reinterpret_cast<const float*>(at))
                 : bounds_.Check(bounded, r, first + a, reinterpret_cast<const uint8_t*>(at));
      }
    }
  }
}

void PythonEnv::NextSeeds(uint64_t per_row, const uint64_t* seeds) {
  if (with_first_.empty()) return;
  seeds_per_row_ = per_row;
  next_seeds_.assign(seeds, seeds + rows_ * per_row);
  used_seeds_.assign(rows_, 0);
  for (uint64_t r = 0; r < rows_; ++r) Offer(r);
}

// Gives the worker the seed of the row's next episode, if it is known.
void PythonEnv::Offer(uint64_t row) {
  const bool known = used_seeds_[row] < seeds_per_row_;
  const uint64_t seed = known ? next_seeds_[row * seeds_per_row_ + used_seeds_[row]] : 0;
  std::memcpy(At(next_seeds_at_, sizeof seed, row), &seed, sizeof seed);
  *At(next_at_, 1, row) = known ? kOffered : kUnknown;
}

// True if the step that ended the row's episode also began the next one, with this seed or by a vector env's own choice.
bool PythonEnv::HasStarted(uint64_t row, uint64_t seed) const {
  uint64_t used = 0;
  std::memcpy(&used, At(next_seeds_at_, sizeof used, row), sizeof used);
  const char how = *At(next_at_, 1, row);
  return how == kStartedAsItChose || (how == kStarted && used == seed);
}

void PythonEnv::TakeFirst(uint64_t row) {
  for (const Shared& shared : channels_)
    if (shared.first != 0)
      std::memcpy(At(shared.offset, shared.row_bytes, row), At(shared.first, shared.row_bytes, row), shared.row_bytes);
}

void PythonEnv::Reset(const bp::Slot& slot, uint64_t begin, uint64_t end, const uint8_t* mask, const uint64_t* seeds) {
  bool any = false;
  for (uint64_t r = begin; r < end; ++r) {
    const bool resets = mask == nullptr || mask[r] != 0;
    const bool has_started = resets && mask != nullptr && HasStarted(r, seeds[r]);
    to_reset_[r] = resets && !has_started;
    any |= to_reset_[r] != 0;
    if (has_started) TakeFirst(r);
    *At(mask_at_, 1, r) = static_cast<char>(to_reset_[r]);
    std::memcpy(At(seeds_at_, sizeof *seeds, r), &seeds[r], sizeof *seeds);
  }
  if (any) workers_.Run('R', begin, end, to_reset_.data());
  for (uint64_t r = begin; r < end && !with_first_.empty(); ++r) {
    if (to_reset_[r] == 0 && (mask == nullptr || mask[r] == 0)) continue;
    if (mask == nullptr) seeds_per_row_ = 0;  // the offered seeds belong to different episodes
    if (used_seeds_[r] < seeds_per_row_ && next_seeds_[r * seeds_per_row_ + used_seeds_[r]] == seeds[r]) ++used_seeds_[r];
    Offer(r);
  }
  CheckObservations(begin, end, mask);
  for (const Shared& shared : channels_)
    if (bp::IsStateRole(shared.role)) Copy(shared, shared.offset, slot, begin, end, mask);
}

void PythonEnv::Step(const bp::Slot& slot, uint64_t begin, uint64_t end) {
  for (const Shared& shared : channels_)
    if (shared.role == BP_ROLE_ACTION) Copy(shared, shared.offset, slot, begin, end, nullptr);
  workers_.Run('S', begin, end, nullptr);
  CheckObservations(begin, end, nullptr);
  for (const Shared& shared : channels_)
    if (shared.role != BP_ROLE_ACTION) Copy(shared, shared.offset, slot, begin, end, nullptr);
}

// The packages' versions, then each row, so that the number of workers may be another one when it is read.
void PythonEnv::SaveState(const bp::Writer& writer) {
  const std::vector<std::string> answers = workers_.AskAll('G', std::vector(workers_.size(), std::string()));
  writer.PutAll(versions_.data(), versions_.size());
  writer.Put(rows_);
  std::vector<size_t> at(answers.size(), 0);
  for (uint64_t r = 0; r < rows_; ++r) {
    const std::string& answer = answers[r % answers.size()];
    size_t& here = at[r % answers.size()];
    uint64_t bytes = UINT64_MAX;
    if (answer.size() - here >= sizeof bytes) std::memcpy(&bytes, answer.data() + here, sizeof bytes);
    if (bytes > answer.size() - here - std::min(sizeof bytes, answer.size() - here))
      throw bp::Error(BP_E_INTERNAL, "row " + std::to_string(r) + ": expected a complete state from its worker, got a part");
    writer.PutAll(answer.data() + here + sizeof bytes, bytes);
    here += sizeof bytes + bytes;
  }
}

void PythonEnv::LoadState(const bp::Reader& reader) {
  const auto text = [&](uint64_t most) {
    const auto bytes = reader.Get<uint64_t>();
    if (bytes > most)
      throw bp::Error(BP_E_INVALID_ARG, "the saved state has an impossible length: " + std::to_string(bytes) + " bytes");
    std::string read;
    for (constexpr uint64_t kPortion = 1 << 20; read.size() < bytes;) {  // allocate only for data that exist
      const size_t before = read.size();
      read.resize(before + std::min(kPortion, bytes - before));
      reader.Bytes(read.data() + before, read.size() - before);
    }
    return read;
  };
  const std::string versions = text(1 << 20);
  if (versions != versions_)
    host_->log(
        host_, BP_LOG_WARN,
        ("other package versions saved its rows, which may now step differently; then:\n" + versions + "now:\n" + versions_)
            .c_str());
  reader.Expect(rows_, "its number of rows");
  std::vector<std::string> requests(workers_.size());
  for (uint64_t r = 0; r < rows_; ++r) {
    const std::string state = text(kMostStateBytes);
    const uint64_t bytes = state.size();
    requests[r % requests.size()].append(reinterpret_cast<const char*>(&bytes), sizeof bytes).append(state);
  }
  workers_.AskAll('U', requests);
}

bp::PictureSize PythonEnv::SizeOfPicture() {
  const std::string answer = workers_.Ask(0, 'Z', "");
  bp::PictureSize size{};
  std::memcpy(&size, answer.data(), std::min(answer.size(), sizeof size));
  return size;
}

void PythonEnv::DrawFrame(uint64_t row, std::string* out) {
  const std::string_view text(reinterpret_cast<const char*>(&row), sizeof row);
  *out += workers_.Ask(row % workers_.size(), 'P', text);
}

}  // namespace backplane::python_env
