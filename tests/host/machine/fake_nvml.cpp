// Answers as a driver with two devices does, and refuses what a driver refuses. FAKE_NVML=no-driver: the library is there, the
// driver is not loaded.
#include <cstdlib>
#include <cstring>

namespace {

enum Return : int { kSuccess = 0, kUninitialized = 1, kInvalidArgument = 2, kInsufficientSize = 7, kDriverNotLoaded = 9 };

struct Device {
  const char *uuid, *name;
  unsigned long long memory_bytes;
};
Device devices[] = {{"GPU-11111111-aaaa", "Fake A", 8ull << 30}, {"GPU-22222222-bbbb", "Fake B", 16ull << 30}};
int users = 0;

int Copy(const char* from, char* to, unsigned size) {
  if (std::strlen(from) >= size) return kInsufficientSize;
  std::strcpy(to, from);
  return kSuccess;
}

}  // namespace

extern "C" {

int nvmlInit_v2() {
  const char* mode = std::getenv("FAKE_NVML");
  if (mode != nullptr && std::strcmp(mode, "no-driver") == 0) return kDriverNotLoaded;
  ++users;
  return kSuccess;
}
int nvmlShutdown() {
  if (users == 0) return kUninitialized;
  --users;
  return kSuccess;
}
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 2;
  return users > 0 ? kSuccess : kUninitialized;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, Device** device) {
  if (users == 0) return kUninitialized;
  if (index >= 2) return kInvalidArgument;
  *device = &devices[index];
  return kSuccess;
}
int nvmlDeviceGetUUID(Device* device, char* text, unsigned size) { return Copy(device->uuid, text, size); }
int nvmlDeviceGetName(Device* device, char* text, unsigned size) { return Copy(device->name, text, size); }
int nvmlDeviceGetMemoryInfo(Device* device, unsigned long long* total_free_used) {
  total_free_used[0] = device->memory_bytes;
  total_free_used[1] = device->memory_bytes;
  total_free_used[2] = 0;
  return kSuccess;
}
}
