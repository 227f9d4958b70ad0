#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "core/error.h"
#include "core/files/durable_file.h"
#include "experiments/commands/commands.h"
#include "experiments/commands/saved_model.h"
#include "experiments/console/number_text.h"
#include "experiments/console/progress.h"
#include "experiments/predict/input_progress.h"
#include "experiments/predict/prediction_writer.h"

namespace weft::experiments {
namespace {

namespace fs = std::filesystem;

/// Where texts come from: a file, or standard input.
struct Input {
  std::ifstream file;       ///< not opened for standard input
  std::uint64_t bytes = 0;  ///< 0: not known
};

Input open_input(const std::string& path) {
  Input input;
  if (path == "-") {
    if (::isatty(STDIN_FILENO)) std::cerr << "reading what you type, a text a line; Ctrl-D ends\n";
    return input;
  }
  core::require(!fs::is_directory(path), "\"", path,
                "\" is a folder: predict takes one RUN and one "
                "FILE of texts");
  errno = 0;
  input.file.open(path, std::ios::binary);
  if (!input.file)
    throw core::Error(core::Fault::data,
                      "cannot read '" + path + "': " + core::explain_errno(errno));
  if (fs::is_regular_file(path)) input.bytes = fs::file_size(path);
  return input;
}

/// The words of a list with commas.
std::vector<std::string> listed(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream list(text);
  for (std::string item; std::getline(list, item, ',');) all.push_back(item);
  return all;
}

RecordForm form_of(const CommandLine& line, const std::vector<std::string>& texts) {
  RecordForm form;
  form.header = line.has("header");
  core::require(!line.has("column") || !line.has("field"),
                "--column is for columns and --field for JSON lines: give one of them");
  if (line.has("field")) {
    form.kind = RecordForm::Kind::json;
    form.places = listed(line.text("field"));
  } else if (line.has("column") || form.header || texts.size() > 1) {
    form.kind = RecordForm::Kind::columns;
    for (std::size_t i = 0; i < texts.size(); ++i) form.places.push_back(std::to_string(i + 1));
    if (line.has("column")) form.places = listed(line.text("column"));
  }
  std::string names;
  for (const std::string& text : texts) names += (names.empty() ? "" : ",") + text;
  core::require(
      form.places.empty() || form.places.size() == texts.size(), "this model reads ",
      texts.size() == 1 ? "one text" : "two texts", " of each line, ", names, ": name ",
      texts.size() == 1 ? "one column or field" : "two columns or fields, divided by a comma");
  return form;
}

PredictionWriter::Form output_form(const CommandLine& line) {
  if (line.has("json")) return PredictionWriter::Form::json;
  return line.has("bare") ? PredictionWriter::Form::bare_columns : PredictionWriter::Form::columns;
}

PredictorOptions options_of(const CommandLine& line, const TextModel& model) {
  const PredictorOptions options{
      .batch = line.has("batch") ? line.integer("batch") : model.saved.config.train.batch,
      .tokens = line.has("tokens") ? line.integer("tokens") : 0,
      .beams = line.integer("beams"),
      .top = line.integer("top"),
      .mask = line.text("mask")};
  core::require(options.batch >= 1, "--batch 0 reads nothing");
  return options;
}

/// Reads, predicts and writes batch by batch to the end of the input.
void predict_all(RecordReader& reader, Predictor& predictor, core::Index batch,
                 PredictionWriter& writer, InputProgress& progress) {
  std::vector<Record> records;
  const auto flush = [&] {
    const auto predictions = predictor.predict(records);
    for (std::size_t i = 0; i < records.size(); ++i) writer.write(records[i], predictions[i]);
    std::cout << std::flush;
    if (!std::cout.good())
      throw core::Error(core::Fault::output, "cannot write to standard output");
    records.clear();
    progress.update(writer.written(), reader.bytes());
  };
  while (auto record = reader.next()) {
    records.push_back(std::move(*record));
    if (core::Index(records.size()) == batch) flush();
  }
  flush();
}

/// Prints notes about an input that was read to its end; returns the exit code.
int conclude(const Predictor& predictor, const PredictionWriter& writer) {
  const auto lines = [](core::Index n) { return format_number_of(double(n), "line"); };
  if (predictor.cut() > 0)
    std::cerr << "note: " << lines(predictor.cut()) << " of " << writer.written() << " "
              << predictor.cut_rule() << '\n';
  if (writer.empty() > 0)
    std::cerr << "note: " << lines(writer.empty()) << " without text, no prediction\n";
  if (writer.unread() == 0) return 0;
  throw core::Error(core::Fault::data,
                    core::message_of(lines(writer.unread()), " of ", writer.written(),
                                     " could not be read and got no prediction, the first being ",
                                     writer.first_problem()));
}

}  // namespace

int predict_command(const Arguments& arguments) {
  CommandLine line(
      "weft predict RUN [FILE|-] [section.key=value ...]",
      "Applies a run's model to texts, one per line, and prints one line for each: the class and "
      "its "
      "probabilities, the text with its blanks filled in, the answer to a question, the target "
      "generated from a source, or how a text goes on. It does not need the training data.");
  line.words(1, 1000, "RUN");
  add_checkpoint_option(line);
  line.option("column", "NAME",
              "the input has columns divided by tabs: the number, from 1, or the name of the one "
              "with the text; for questions two, QUESTION,DOCUMENT")
      .flag("header", "the first line of the input names the columns")
      .option("field", "NAME",
              "the input has a JSON object per line: the field of the text, or two")
      .flag("json", "print a JSON object per line")
      .flag("bare", "print no line of column names")
      .option("batch", "N", "records per batch; 1 answers each immediately (train.batch)")
      .option("mask", "MARK", "what marks a token to fill in", "[MASK]")
      .option("top", "N", "candidates for each blank, in JSON", "5")
      .option("tokens", "N",
              "tokens by which a language model continues a text (32, at most half of the learned "
              "positions)")
      .option("beams", "N", "beam search for generated targets; 0: the most likely token", "0");
  if (!line.parse(arguments)) return 0;
  std::vector<std::string> overrides = line.overrides();
  std::string path = "-";
  if (!overrides.empty() && overrides[0].find('=') == std::string::npos) {
    path = overrides[0];
    overrides.erase(overrides.begin());
  }
  const Checkpoint checkpoint = load_saved_checkpoint(line);
  const RunConfig config = config_of(checkpoint, overrides);
  require_texts(config);  // before data are read, which classifiers of images need
  const TextModel model = load_text_model(config, checkpoint);
  const PredictorOptions options = options_of(line, model);
  const auto predictor = make_predictor(model, options);
  Input input = open_input(path);
  std::istream& stream = path == "-" ? std::cin : input.file;
  RecordReader reader(stream, form_of(line, predictor->texts()));
  PredictionWriter writer(std::cout, output_form(line), predictor->columns());
  InputProgress progress(std::cerr, ::isatty(STDOUT_FILENO) ? 0 : terminal_columns(STDERR_FILENO),
                         input.bytes, steady_seconds);
  predict_all(reader, *predictor, options.batch, writer, progress);
  return conclude(*predictor, writer);
}

}  // namespace weft::experiments
