#include "data/documents/sentence_sample.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/rng.h"
#include "data/files/byte_stream.h"
#include "data/files/json_text.h"
#include "data/spelling/text_cuts.h"

namespace weft::data {
namespace {

using core::Index;

/// Sentence n is kept while its random number is below a limit, which sinks when there are too many
/// bytes: an even sample in one pass.
class Sample {
 public:
  explicit Sample(Index most_bytes) : most_bytes_(most_bytes) {}

  void add(std::string_view sentence) {
    result_.read += Index(sentence.size());
    const double number = numbers_.uniform(next_++);
    if (number >= limit_) return;
    kept_.push_back(number);
    result_.sentences.emplace_back(sentence);
    result_.bytes += Index(sentence.size());
    while (result_.bytes > most_bytes_) lower_limit();
  }

  SentenceSample finish() { return std::move(result_); }

 private:
  void lower_limit() {
    limit_ *= 0.75;
    std::size_t end = 0;
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      if (kept_[i] >= limit_) {
        result_.bytes -= Index(result_.sentences[i].size());
        continue;
      }
      if (end < i) result_.sentences[end] = std::move(result_.sentences[i]);
      kept_[end++] = kept_[i];
    }
    kept_.resize(end);
    result_.sentences.resize(end);
  }

  Index most_bytes_;
  core::Rng numbers_ = core::Rng(1).fold("sentences");
  std::uint64_t next_ = 0;
  double limit_ = 1;
  std::vector<double> kept_;
  SentenceSample result_;
};

/// Calls take(line, number) for each line of a file; very long ones come in several parts, unless
/// `whole`.
void for_each_line(const std::string& path, bool whole, const std::function<void(Index)>& progress,
                   const std::function<void(std::string_view, Index)>& take) {
  constexpr std::size_t piece = std::size_t(1) << 18;
  ByteStream stream(path);
  std::string buffer;
  Index line = 1;
  for (bool more = true; more;) {
    const std::size_t old = buffer.size();
    buffer.resize(old + piece);
    const std::size_t got = stream.read({buffer.data() + old, piece});
    buffer.resize(old + got);
    more = got == piece;
    std::size_t begin = 0;
    for (std::size_t end = buffer.find('\n', old); end != buffer.npos;
         end = buffer.find('\n', begin)) {
      take(std::string_view(buffer).substr(begin, end - begin), line++);
      begin = end + 1;
    }
    buffer.erase(0, begin);
    if (!buffer.empty() && (!more || (!whole && buffer.size() >= piece))) {
      take(buffer, line);
      buffer.clear();
    }
    progress(stream.position());
  }
}

}  // namespace

SentenceSample sample_sentences(const std::vector<std::string>& paths,
                                const SamplingOptions& options) {
  Sample sample(options.most_bytes);
  const auto add = [&](std::string_view text) {
    cut_text(
        text, [&](std::string_view stretch) { sample.add(stretch); }, [](char) {});
  };
  double all = 0, before = 0;
  for (const std::string& path : paths) all += double(ByteStream(path).size());
  for (const std::string& path : paths) {
    const auto progress = [&](Index position) {
      if (options.progress && all > 0) options.progress((before + double(position)) / all);
    };
    for_each_line(path, !options.field.empty(), progress, [&](std::string_view line, Index number) {
      if (options.field.empty()) return add(line);
      if (line.find_first_not_of(" \t\r") == line.npos) return;
      const std::string place = core::message_of("'", path, "':", number);
      add(json_string(parse_record(line, place, {options.field}), options.field.c_str(), place));
    });
    before += double(ByteStream(path).size());
  }
  return sample.finish();
}

}  // namespace weft::data
