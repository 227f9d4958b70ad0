// Data to train on, as files that somebody else made.
#include <array>
#include <sstream>

#include "data/documents/document_file.h"
#include "data/documents/document_stream.h"
#include "data/images/idx_file.h"
#include "data/images/image_files.h"
#include "data/images/png_file.h"
#include "data/questions/squad_file.h"
#include "data/spelling/sentencepiece.h"
#include "data/spelling/tokenizer.h"
#include "data/summaries/pair_file.h"
#include "data/tasks/labelled_file.h"
#include "data/text/character_survey.h"
#include "data/text/prepared_text.h"
#include "data/text/text_encoder.h"
#include "experiments/predict/record_reader.h"
#include "tests/fuzz/fuzzers.h"
#include "tests/fuzz/input_bytes.h"
#include "tests/fuzz/scratch.h"

namespace weft::fuzz {

using namespace data;

void fuzz_prepared_text(std::string_view input) {
  const PreparedText text = open_prepared_text(sealed_file("text.h5", input).string());
  std::vector<core::Token> some(64);
  for (core::Index at = 0; at < text.tokens->size(); at += core::Index(some.size()))
    text.tokens->read(at, std::span(some).first(std::size_t(
                              std::min(text.tokens->size() - at, core::Index(some.size())))));
}

void fuzz_labelled(std::string_view input) {
  InputBytes bytes(input);
  const std::uint8_t form = bytes.byte();
  LabelledColumns columns{.header = bool(form & 1)};
  if (form & 2) columns.label = "label", columns.text = "text";
  if (form & 4) columns.text = "99999999999999999999";
  read_labelled_file(scratch_file("labelled.tsv", bytes.rest()).string(), columns);
}

void fuzz_pairs(std::string_view input) {
  InputBytes bytes(input);
  const std::uint8_t form = bytes.byte();
  PairFields fields{.json = bool(form & 1), .header = bool(form & 2), .escapes = bool(form & 4)};
  if (fields.json || fields.header) fields.source = "source", fields.target = "target";
  read_pair_file(scratch_file("pairs.txt", bytes.rest()).string(), fields);
}

void fuzz_squad(std::string_view input) { parse_squad(std::string(input), "squad.json"); }

/// A model, which can write any text if it can be read.
void fuzz_tokenizer(std::string_view input) {
  const Tokenizer tokenizer(PieceTable(input, "the input"));
  const std::string text = "the \xff thread\n" + std::string(input.substr(0, 200));
  demand(!has_sentencepiece() || tokenizer.decode(tokenizer.encode(text)) == text, "another text");
  demand(PieceTable(tokenizer.file(), "its copy").file() == tokenizer.file(), "another model");
}

void fuzz_documents(std::string_view input) {
  using Form = DocumentRule::Form;
  InputBytes bytes(input);
  const std::uint8_t form = bytes.byte();
  const DocumentRule rule{.form = std::array{Form::lines, Form::blank, Form::files}[form % 3],
                          .field = form & 128 ? "text" : ""};
  const TextFile file = read_text_file(scratch_file("text.txt", bytes.rest()).string());
  const DocumentFile documents(file, rule);
  for (core::Index i = 0; i < documents.size(); ++i) documents.without({i});
  std::vector<std::string> streamed;
  DocumentStream stream("text.txt", rule, [&](const DocumentPart& part) {
    if (part.begins) streamed.emplace_back();
    streamed.back() += part.text;
  });
  for (std::size_t at = 0; at < file.bytes.size(); at += 7)
    stream.add(std::string_view(file.bytes).substr(at, 7));
  stream.finish();
  const auto texts = documents.texts();
  demand(std::ranges::equal(streamed, texts), "other documents when they are streamed");
  const Spelling spelling(alphabet_of(file));
  std::vector<core::Token> tokens;
  TextEncoder encoder(spelling, {}, [&](std::span<const core::Token> found) {
    tokens.insert(tokens.end(), found.begin(), found.end());
  });
  encoder.add(file.bytes);
  encoder.end();
  encoder.finish();
  demand(tokens == spelling.encode(file.bytes), "other tokens when they are streamed");
}

void fuzz_records(std::string_view input) {
  using Kind = experiments::RecordForm::Kind;
  InputBytes bytes(input);
  const std::uint8_t form = bytes.byte();
  const Kind kind = std::array{Kind::lines, Kind::columns, Kind::json}[form % 3];
  const bool named = kind == Kind::json || form & 64;
  std::istringstream in{std::string(bytes.rest())};
  experiments::RecordReader reader(in, {.kind = kind,
                                        .places = {named ? "text" : "2", named ? "more" : "1"},
                                        .header = bool(form & 128)});
  while (const auto record = reader.next())
    demand(!record->problem.empty() || !record->texts.empty(), "a record of nothing");
}

/// A first line that makes the alphabet, then a prompt.
void fuzz_prompt(std::string_view input) {
  const std::size_t end = std::min(input.find('\n'), input.size());
  const std::string_view prompt = input.substr(std::min(end + 1, input.size()));
  const TextFile made{"alphabet", std::string(input.substr(0, end))};
  for (const Spelling& spelling : {Spelling::bytes(), Spelling(alphabet_of(made))}) {
    const std::vector<core::Token> tokens = spelling.encode(prompt);
    demand(spelling.decode(tokens) == prompt, "another text");
  }
}

void fuzz_images(std::string_view input) {
  InputBytes bytes(input);
  static const std::array names = {"images", "images.gz", "images.bin", "labels", "image.png"};
  const std::string name = names[bytes.below(names.size())];
  const std::string path = scratch_file(name, bytes.rest()).string();
  if (name == "labels") {
    read_idx_labels(path);
    return;
  }
  const PictureSet set = read_images(path);
  demand(core::Index(set.pixels.size()) == set.count * set.form.values(), "other images");
}

}  // namespace weft::fuzz
