#include "mujoco/model.hpp"

#include <vector>

#include "backplane/env.hpp"
#include "mujoco/errors.hpp"

namespace mj {
namespace {

Model Load(const std::string& place, const char* name, const mjVFS* vfs, bp_status code) {
  ContainErrors();
  char text[1000] = "";
  mjModel* model = nullptr;
  const char* raised = Catch([&] { model = mj_loadXML(name, vfs, text, sizeof text); });
  if (!model) throw bp::Error(code, place + "MuJoCo cannot load '" + name + "': " + (raised ? raised : text));
  return Model(model);
}

}  // namespace

Model LoadFile(const std::string& option, const std::string& path) {
  return Load(option + ": ", path.c_str(), nullptr, BP_E_CONFIG);
}

Model LoadText(const std::string& name, const std::string& xml) {
  struct Files {
    Files() { mj_defaultVFS(&vfs); }
    ~Files() { mj_deleteVFS(&vfs); }
    mjVFS vfs;
  } files;
  mj_addBufferVFS(&files.vfs, name.c_str(), xml.data(), static_cast<int>(xml.size()));
  return Load("", name.c_str(), &files.vfs, BP_E_INTERNAL);
}

Data MakeData(const mjModel* model) {
  ContainErrors();
  mjData* data = nullptr;
  const char* raised = Catch([&] { data = mj_makeData(model); });
  if (!data)
    throw bp::Error(BP_E_OOM_HOST, std::string("MuJoCo cannot make the state of a row: ") + (raised ? raised : "no memory"));
  return Data(data);
}

uint64_t Fingerprint(const mjModel* model) {
  std::vector<char> bytes(mj_sizeModel(model));
  mj_saveModel(model, nullptr, bytes.data(), static_cast<int>(bytes.size()));
  return bp::detail::Fnv({bytes.data(), bytes.size()}, bp::detail::Fnv(mj_versionString()));
}

}  // namespace mj
