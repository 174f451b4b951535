// Runs an experiment from this process and prints its progress: train FILE [PATH=VALUE ...]
#include <backplane/embed.h>

#include <cstdio>
#include <string>
#include <vector>

namespace {

// The number after "key": in a line of JSON; good enough for progress output.
double Number(const std::string& json, const std::string& key) {
  const size_t at = json.find("\"" + key + "\":");
  return at == std::string::npos ? 0 : std::strtod(json.c_str() + at + key.size() + 3, nullptr);
}

// Called on the thread of bp_run. Return 0 to continue, 1 to cancel like Ctrl-C.
int32_t OnNews(void* context, const bp_run_news* news) {
  auto* iterations = static_cast<int*>(context);
  switch (news->kind) {
    case BP_RUN_STARTED: std::printf("results: %s\n", news->text); break;
    case BP_RUN_METRICS:
      std::printf("trial %.8s  iteration %.0f  %.0f steps  return %.1f\n", news->trial, Number(news->text, "iteration"),
                  Number(news->text, "step"), Number(news->text, "mean"));
      ++*iterations;
      break;
    case BP_RUN_PROGRESS:
      std::printf("%.0f of %.0f trials done\n", Number(news->text, "done"), Number(news->text, "total"));
      break;
    case BP_RUN_LOG: std::fprintf(stderr, "%s\n", news->text); break;
    default: break;  // kinds of later versions too
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "usage: train FILE [PATH=VALUE ...]\n"), 2;
  std::vector<const char*> arguments;
  for (int i = 2; i < argc; ++i) arguments.insert(arguments.end(), {"--set", argv[i]});
  arguments.push_back(nullptr);

  int iterations = 0;
  int32_t exit_code = 0;
  const bp_status status = bp_run(argv[1], arguments.data(), OnNews, &iterations, &exit_code);
  if (status < 0) {
    std::fprintf(stderr, "%s\n", bp_embed_error());
    return exit_code > 0 ? exit_code : 1;
  }
  std::printf("done after %d iterations\n", iterations);
  return 0;
}
