#include "model_tokenizer.hpp"

#include <cstring>
#include <nlohmann/json.hpp>

#include "backplane/plugin.hpp"

namespace backplane::summarization {

extern const char* const kTokenizerProcess;

namespace {

constexpr double kTimeout_s = 120;         // for one message
constexpr size_t kMessageBytes = 1 << 20;  // about a second of work

void AppendLength(size_t n, std::string* out) {
  if (n > UINT32_MAX) throw bp::ConfigError("expected texts below 4 GiB");
  const auto length = static_cast<uint32_t>(n);
  out->append(reinterpret_cast<const char*>(&length), sizeof length);
}

template <class Number>
Number TakeNumber(std::string_view* data) {
  Number number;
  if (data->size() < sizeof number) throw bp::Error(BP_E_INTERNAL, "the tokenizer process sent a short answer");
  std::memcpy(&number, data->data(), sizeof number);
  data->remove_prefix(sizeof number);
  return number;
}

}  // namespace

ModelTokenizer::ModelTokenizer(const bp_host* host, const ModelFolder& folder, Caps caps)
    : process_(host, folder.python, {kTokenizerProcess, "the tokenizer process"}, kTimeout_s, 1, 1) {
  const nlohmann::json request = {{"folder", folder.folder},
                                  {"source_lang", folder.source_lang},
                                  {"target_lang", folder.target_lang},
                                  {"most", {caps.source, caps.target}}};
  const nlohmann::json said = nlohmann::json::parse(process_.Ask(0, 'C', request.dump()));
  size_ = said.at("size"), eos_ = said.at("eos"), pad_ = said.at("pad"), version_ = said.at("version");
}

void ModelTokenizer::Add(std::string_view text) {
  AppendLength(text.size(), &waiting_);
  waiting_ += text;
  encoded_.texts.emplace_back();
  if (waiting_.size() >= kMessageBytes && encoded_.texts.size() % 2 == 0) Send();
}

void ModelTokenizer::Send() {
  const std::string answer = process_.Ask(0, 'P', waiting_);
  waiting_.resize(1);
  std::string_view rest = answer;
  encoded_.unknown = TakeNumber<uint64_t>(&rest);
  if (rest.size() % sizeof(Encoded::Text) != 0 || rest.size() / sizeof(Encoded::Text) > encoded_.texts.size())
    throw bp::Error(BP_E_INTERNAL, "the tokenizer process sent an answer of " + std::to_string(rest.size()) + " bytes");
  std::memcpy(encoded_.texts.data() + encoded_.texts.size() - rest.size() / sizeof(Encoded::Text), rest.data(), rest.size());
}

ModelTokenizer::Encoded ModelTokenizer::Finish() {
  if (waiting_.size() > 1) Send();
  uint64_t tokens = 0;
  for (const Encoded::Text& text : encoded_.texts) tokens += text.tokens;
  if (tokens > 0)
    encoded_.tokens = {reinterpret_cast<const int32_t*>(process_.Share(tokens * sizeof(int32_t))), static_cast<size_t>(tokens)};
  return std::move(encoded_);
}

std::vector<std::string> ModelTokenizer::Decode(const std::vector<std::vector<int32_t>>& texts) const {
  std::string message = "D";
  for (const std::vector<int32_t>& ids : texts) {
    AppendLength(ids.size(), &message);
    message.append(reinterpret_cast<const char*>(ids.data()), ids.size() * sizeof(int32_t));
  }
  std::string answer;
  {
    const std::lock_guard lock(decoding_);
    answer = process_.Ask(0, 'P', message);
  }
  std::vector<std::string> decoded;
  std::string_view rest = answer;
  for (size_t i = 0; i < texts.size(); ++i) {
    const auto length = TakeNumber<uint32_t>(&rest);
    decoded.emplace_back(rest.substr(0, length));
    rest.remove_prefix(std::min<size_t>(length, rest.size()));
  }
  return decoded;
}

}  // namespace backplane::summarization
