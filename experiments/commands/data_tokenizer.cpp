#include <unistd.h>

#include <iostream>

#include "core/error.h"
#include "core/files/durable_file.h"
#include "data/documents/sentence_sample.h"
#include "data/files/text_paths.h"
#include "data/spelling/sentencepiece.h"
#include "data/spelling/tokenizer.h"
#include "experiments/commands/commands.h"
#include "experiments/console/command_line.h"
#include "experiments/console/live_text.h"
#include "experiments/console/number_text.h"
#include "experiments/console/output_file.h"
#include "experiments/console/progress.h"

namespace weft::experiments {

using core::Index;

namespace {

constexpr Index fewest_tokens = 260, most_tokens = 1'000'000;
constexpr double megabyte = 1e6;

std::string in_megabytes(Index bytes) {
  return format_fixed(double(bytes) / megabyte, bytes < 10'000'000 ? 2 : 0) + " MB";
}

data::TokenizerTraining training_of(const CommandLine& line) {
  const std::string& kind = line.text("kind");
  core::require(kind == "bpe" || kind == "unigram", "--kind must be unigram or bpe, not ", kind);
  const data::TokenizerTraining training{
      .size = line.integer("size"),
      .form = kind == "bpe" ? data::PieceTable::Form::bpe : data::PieceTable::Form::unigram};
  core::require(training.size >= fewest_tokens && training.size <= most_tokens, "--size ",
                training.size, " is not between ", fewest_tokens, " and ", most_tokens,
                ": 256 bytes are always among the tokens");
  return training;
}

data::SentenceSample read_sample(const CommandLine& line, LiveText& shown) {
  std::vector<std::string> files;
  for (const std::string& word : line.words())
    for (const std::string& file : data::text_paths(word).files) files.push_back(file);
  const double sample = line.number("sample");
  core::require(sample > 0 && sample <= 1e4, "--sample ", sample,
                " is not between 0 and 10000 (MB)");
  shown.message("reading " + format_number_of(double(files.size()), "file"));
  const data::SamplingOptions options{.most_bytes = Index(sample * megabyte),
                                      .field = line.has("field") ? line.text("field") : "",
                                      .progress = [&](double share) {
                                        shown.show({"read " + format_fixed(100 * share, 0) + " %"});
                                      }};
  data::SentenceSample read = data::sample_sentences(files, options);
  shown.show({});
  if (read.sentences.empty())
    throw core::Error(core::Fault::data,
                      "there is no text to learn from: name files that hold some");
  return read;
}

}  // namespace

int data_tokenizer_command(const Arguments& arguments) {
  CommandLine line(
      "weft data tokenizer TEXT... -o FILE.model",
      "Learns a tokenizer, a set of pieces of words (subwords), by SentencePiece, for data.units = "
      "\"sentencepiece\" with data.tokenizer = \"FILE.model\". A TEXT is what data.path may be: a "
      "file, also a compressed one, a folder or a pattern. Every text can be encoded, since the "
      "256 "
      "bytes are among the pieces. The same text gives the same tokenizer.");
  line.words(1, 100000, "TEXT")
      .option("output,o", "FILE.model", "where to write the tokenizer")
      .option("size", "N", "how many tokens it has", "4096")
      .option("kind", "KIND", "unigram, or bpe (byte pair encoding)", "unigram")
      .option(
          "sample", "MB",
          "learn from at most this many megabytes, drawn evenly from all lines; memory is about "
          "thirty times as much",
          "16")
      .option("field", "NAME", "each line is a JSON object, and this field is the text")
      .flag("force", "replace an existing file");
  if (!line.parse(arguments)) return 0;
  data::require_sentencepiece();
  const data::TokenizerTraining training = training_of(line);
  const std::string& output = line.text("output");
  check_output(output, line.words(), line.has("force"));
  LiveText shown(std::cerr, [] { return terminal_columns(STDERR_FILENO); });
  const data::SentenceSample sample = read_sample(line, shown);
  shown.message("learning " + std::to_string(training.size) + " tokens from " +
                in_megabytes(sample.bytes) + " of " + in_megabytes(sample.read));
  const data::PieceTable table(data::train_sentencepiece(sample.sentences, training),
                               "what SentencePiece made");
  if (table.size() < training.size)
    throw core::Error(core::Fault::data,
                      core::message_of("this text gives no more than ", table.size(),
                                       " tokens, not ", training.size),
                      core::message_of("Give it --size ", table.size(), " or less, or more text"));
  const data::Tokenizer tokenizer(table);
  core::write_durably(output, tokenizer.file());
  Index pieces = 0, bytes = 0;
  for (std::size_t i = 0; i < sample.sentences.size() && bytes < 1'000'000; ++i) {
    pieces += Index(tokenizer.encode(sample.sentences[i]).size());
    bytes += Index(sample.sentences[i].size());
  }
  std::cout << output << ": " << table.size() << " tokens (" << line.text("kind") << "), "
            << format_fixed(double(bytes) / double(pieces), 2)
            << " bytes of this text in each\nuse it with: data.units=sentencepiece data.tokenizer="
            << output << '\n';
  return 0;
}

}  // namespace weft::experiments
