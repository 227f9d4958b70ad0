#include "experiments/hold/holder.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/error.h"
#include "core/files/json_nesting.h"
#include "experiments/hold/slurm_queue.h"

namespace weft::experiments {
namespace {

using Json = nlohmann::ordered_json;

std::string own_machine() {
  std::string boot;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
  std::error_code ignored;
  return boot + " " + std::filesystem::read_symlink("/proc/self/ns/pid", ignored).string();
}

struct ProcessFacts {
  char state = '?';         ///< Z once it has ended and nobody has asked for its exit code yet
  core::Index started = 0;  ///< in ticks since the boot; 0 when that is not known
};

ProcessFacts facts_of(core::Index process) {
  std::string text;
  std::getline(std::ifstream(core::message_of("/proc/", process, "/stat")), text);
  const std::size_t name_end = text.rfind(')');  // the name may contain anything
  ProcessFacts facts;
  if (name_end == std::string::npos) return facts;
  std::istringstream fields(text.substr(name_end + 1));
  fields >> facts.state;
  std::string skipped;
  for (int field = 4; field < 22; ++field) fields >> skipped;
  fields >> facts.started;
  return facts;
}

/// Not drawn from a stream that a replay would draw again: no two are the same, anywhere.
std::string new_token() {
  static constexpr char digits[] = "0123456789abcdef";
  unsigned char bytes[16];
  core::require(::getentropy(bytes, sizeof bytes) == 0, "the system gives no random bytes");
  std::string token;
  for (const unsigned char byte : bytes) token.append({digits[byte >> 4], digits[byte & 15]});
  return token;
}

}  // namespace

Holder Holder::own() {
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  const SlurmJob job = SlurmJob::own();
  return {.host = name,
          .machine = own_machine(),
          .process = ::getpid(),
          .started = facts_of(::getpid()).started,
          .job = job.id,
          .restarts = job.restarts,
          .token = new_token()};
}

std::optional<Holder> Holder::parse(const std::string& text) {
  const Json json = Json::parse(core::nests_too_deep(text) ? "" : text, nullptr, false);
  try {
    return Holder{json.at("host"), json.at("machine"),  json.at("process"), json.at("started"),
                  json.at("job"),  json.at("restarts"), json.at("locked"),  json.at("token")};
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

std::string Holder::json() const {
  const Json json = {{"host", host},       {"machine", machine}, {"process", process},
                     {"started", started}, {"job", job},         {"restarts", restarts},
                     {"locked", locked},   {"token", token}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string Holder::text() const {
  return core::message_of("process ", process, " on ", host) + (job.empty() ? "" : ", job " + job);
}

bool Holder::is_alive() const {
  if (::kill(pid_t(process), 0) != 0 && errno == ESRCH) return false;
  const ProcessFacts now = facts_of(process);
  return now.state != 'Z' && (now.started == 0 || started == 0 || now.started == started);
}

}  // namespace weft::experiments
