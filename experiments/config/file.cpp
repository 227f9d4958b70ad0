#include "experiments/config/file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>

#include "core/error.h"
#include "core/files/durable_file.h"
#include "experiments/config/text.h"
#include "experiments/config/toml.h"

namespace weft::experiments {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t largest_file = std::size_t(1) << 20;
constexpr Index most_includes = 1000, deepest_include = 32;

class Inclusion {
 public:
  explicit Inclusion(std::vector<ConfigProblem>& problems) : problems_(problems) {}

  /// The file laid over its includes; `asked` is the place that names it.
  ConfigNode resolve(const fs::path& path, const ConfigOrigin& asked) {
    std::error_code ignored;
    std::string identity = fs::weakly_canonical(path, ignored).string();
    if (identity.empty()) identity = path.string();
    if (std::ranges::find(open_, identity) != open_.end()) {
      report(asked, path.string() + " includes itself by way of this line; remove one include");
      return {};
    }
    if (++resolved_ > most_includes || Index(open_.size()) > deepest_include) {
      if (!refused_)
        report(asked, core::message_of("more than ", most_includes, " includes, or ",
                                       deepest_include, " inside each other: include less"));
      refused_ = true;
      return {};
    }
    if (const auto done = finished_.find(identity); done != finished_.end()) return done->second;
    open_.push_back(identity);
    const ConfigNode node = over_its_includes(path, asked);
    open_.pop_back();
    return finished_[identity] = node;
  }

 private:
  void report(const ConfigOrigin& origin, const std::string& message) {
    problems_.push_back({origin, "", message});
  }

  std::optional<std::string> read(const fs::path& path, const ConfigOrigin& asked) {
    const auto fail = [&](const std::string& reason) {
      report(asked, "cannot read the config file " + path.string() + ": " + reason);
      return std::nullopt;
    };
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) return fail("it is a directory");
    const bool included = open_.size() > 1;  // the config itself may come through a pipe
    if (included && fs::exists(path, ignored) && !fs::is_regular_file(path, ignored))
      return fail("it is no file");
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    std::string text;
    for (std::array<char, 65536> some; file && text.size() <= largest_file;) {
      file.read(some.data(), std::streamsize(some.size()));
      text.append(some.data(), std::size_t(file.gcount()));
    }
    if (!file.is_open() || file.bad())
      return fail(errno ? core::explain_errno(errno) : "it cannot be opened");
    if (text.size() > largest_file) return fail("it is larger than 1 MiB; is it the right file?");
    return text;
  }

  ConfigNode over_its_includes(const fs::path& path, const ConfigOrigin& asked) {
    const std::optional<std::string> text = read(path, asked);
    if (!text) return {};
    std::optional<ConfigNode> own = parse_toml(*text, path.string(), problems_);
    if (!own) return {};
    ConfigNode result;
    if (auto include = own->table()->extract("include"))
      for (const ConfigNode& name : names_in(include.mapped())) {
        const fs::path other = path.parent_path() / std::get<std::string>(name.value);
        lay_over(result, resolve(other.lexically_normal(), name.origin));
      }
    lay_over(result, std::move(*own));
    return result;
  }

  /// The texts of an `include`, which may also be a single text.
  ConfigNode::List names_in(const ConfigNode& include) {
    ConfigNode::List names = include.list() ? *include.list() : ConfigNode::List{include};
    std::erase_if(names, [&](const ConfigNode& name) {
      const bool wrong = !std::holds_alternative<std::string>(name.value);
      if (wrong)
        report(name.origin, "include must list files, such as [\"base.toml\"], not " + quote(name));
      return wrong;
    });
    return names;
  }

  std::vector<ConfigProblem>& problems_;
  std::vector<std::string> open_;
  Index resolved_ = 0;
  bool refused_ = false;
  std::map<std::string, ConfigNode> finished_;
};

}  // namespace

ConfigNode read_config_file(const std::string& path, std::vector<ConfigProblem>& problems) {
  const ConfigOrigin asked{ConfigOrigin::Place::command_line, "", 0, 0};
  return Inclusion(problems).resolve(path, asked);
}

}  // namespace weft::experiments
