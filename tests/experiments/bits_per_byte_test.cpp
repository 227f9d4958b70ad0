// Bits per byte are those of the text, whatever its tokens are.
#include <numbers>

#include "data/spelling/sentencepiece.h"
#include "data/text/text.h"
#include "experiments/evaluate/evaluation.h"
#include "tests/data/scratch_file.h"
#include "tests/data/spelling/sample_tokenizer.h"

namespace weft::experiments::bits_per_byte_test {
namespace {

using data::Unit;
using Documents = data::TextSettings::Documents;

/// A model that knows nothing of the text: its nats of a token are what `nats` says.
class Ignorant final : public layers::Model {
 public:
  explicit Ignorant(std::function<double(core::Token)> nats) : nats_(std::move(nats)) {}

  layers::TokenScores score(const autograd::Pass&, const layers::Reading& reading) const override {
    layers::TokenScores scores;
    for (const core::Token token : reading.targets.read()) {
      scores.nats.push_back(token == core::no_target ? 0 : float(nats_(token)));
      scores.correct.push_back(false);
    }
    return scores;
  }
  autograd::Var loss(const autograd::Pass&, const layers::Reading&, core::Real) const override {
    return {};
  }
  layers::Cost attention_cost(Index) const override { return {}; }
  Index layer_weights() const override { return 0; }
  Index matrix_weights() const override { return 0; }
  void visit(autograd::Inventory&) override {}

 private:
  std::function<double(core::Token)> nats_;
};

class BitsPerByte : public testing::Test {
 protected:
  void SetUp() override {
    if (!data::has_sentencepiece()) GTEST_SKIP() << "built without SentencePiece";
    for (const std::string& sentence : data::made_sentences(300, 11)) text += sentence + "\n";
    file = std::make_unique<data::ScratchFile>(text);
    tokenizer = std::make_unique<data::ScratchFile>(data::made_model());
  }

  data::Text read(Unit unit, Documents documents = Documents::lines) const {
    data::TextSettings settings;
    settings.files.path = file->path();
    settings.files.fractions = {0.5, 0.3, 0.2};
    settings.units = {unit, unit == Unit::sentencepiece ? tokenizer->path() : ""};
    settings.documents = documents;
    return data::Text(settings, 32, 4, 1);
  }

  std::string text;
  std::unique_ptr<data::ScratchFile> file, tokenizer;
};

/// Every byte equally probable, whatever the tokens: 8 bits for each byte of a token's text.
TEST_F(BitsPerByte, of_a_model_that_predicts_nothing_are_8_in_every_unit) {
  Index bytes = 0;
  for (const Unit unit : {Unit::bytes, Unit::characters, Unit::sentencepiece}) {
    const data::Text data = read(unit);
    const Ignorant model(
        [&](core::Token token) { return 8 * std::numbers::ln2 * double(*data.text_bytes(token)); });
    for (const Index stride : {32, 8}) {
      const Evaluation e = evaluate(model, data, {.stride = stride});
      EXPECT_NEAR(e.bits_per_byte().value(), 8, 1e-5) << name_of(unit);
      if (data.unit() == "byte") {
        EXPECT_NEAR(e.bits(), 8, 1e-5) << name_of(unit);
      }
      // The same bytes of the same documents are scored, each once.
      if (bytes == 0) bytes = e.bytes;
      EXPECT_EQ(e.bytes, bytes) << name_of(unit);
    }
  }
  EXPECT_GT(bytes, 1000);
}

/// Every token equally probable: log2 V bits for each token, over the bytes that these stand for.
TEST_F(BitsPerByte, of_equally_probable_tokens_are_counted_over_the_bytes_of_the_text) {
  for (const Unit unit : {Unit::bytes, Unit::characters, Unit::sentencepiece}) {
    const data::Text data = read(unit, Documents::none);
    const Ignorant model([&](core::Token) { return std::log(double(data.vocabulary())); });
    const Evaluation e = evaluate(model, data);
    std::vector<core::Token> tokens(std::size_t(data.tokens(data::Split::validation)));
    data.read(data::Split::validation, 0, tokens);
    const auto bytes = Index(data.decode(std::span(tokens).subspan(1)).size());
    EXPECT_EQ(e.bytes, bytes) << name_of(unit);
    EXPECT_NEAR(e.bits_per_byte().value(),
                std::log2(double(data.vocabulary())) * double(tokens.size() - 1) / double(bytes),
                1e-5)
        << name_of(unit);
  }
}

TEST_F(BitsPerByte, say_the_same_by_context_as_in_all) {
  const data::Text data = read(Unit::sentencepiece, Documents::none);
  const Ignorant model(
      [&](core::Token token) { return 3 * std::numbers::ln2 * double(*data.text_bytes(token)); });
  for (const Band& band : evaluate(model, data).by_position)
    EXPECT_NEAR(band.bits(), 3, 1e-5) << band.from;
}

/// A boundary costs what the model pays for it, and is no text.
TEST_F(BitsPerByte, count_what_boundaries_cost) {
  const data::Text data = read(Unit::bytes);
  const Ignorant model(
      [&](core::Token token) { return token == *data.document_end() ? std::numbers::ln2 : 0; });
  const Evaluation e = evaluate(model, data);
  std::vector<core::Token> tokens(std::size_t(data.tokens(data::Split::validation)));
  data.read(data::Split::validation, 0, tokens);
  const auto ends = double(std::ranges::count(tokens, *data.document_end()) - 1);
  EXPECT_NEAR(e.bits(), ends / double(e.bytes), 1e-6);
  EXPECT_EQ(e.bytes, e.tokens - Index(ends));
}

}  // namespace
}  // namespace weft::experiments::bits_per_byte_test
