// A host that offers only files (backplane/ext/file.h), for tests of code that keeps data in one.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "rollout/learner_files.hpp"

namespace backplane {

class FileHost {
 public:
  // `folder`: of the files; empty: they are in memory. A second host with the same folder is the next attempt of a trial.
  explicit FileHost(const std::filesystem::path& folder = {}) : services_("learner.test", &sinks_) {
    auto files = std::make_shared<LearnerFiles>(&services_, folder);
    files_ = files.get();
    services_.OfferFiles(LearnerFiles::Api(), files);
  }
  FileHost(const FileHost&) = delete;

  const bp_host* get() const { return services_.get(); }
  const bp_host_file_1& api() const { return *static_cast<const bp_host_file_1*>(get()->get_extension(get(), BP_HOST_FILE_1)); }
  LearnerFiles& files() { return *files_; }              // saves and restores them, like a checkpoint
  std::string Error() { return services_.TakeError(); }  // of the last call that failed

 private:
  HostSinks sinks_;
  HostServices services_;
  LearnerFiles* files_ = nullptr;
};

}  // namespace backplane
