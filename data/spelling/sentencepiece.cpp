#include "data/spelling/sentencepiece.h"

#include "core/error.h"

#ifdef WEFT_HAS_SENTENCEPIECE
#include <sentencepiece_trainer.h>
#endif

namespace weft::data {

bool has_sentencepiece() {
#ifdef WEFT_HAS_SENTENCEPIECE
  return true;
#else
  return false;
#endif
}

void require_sentencepiece() {
  core::require(has_sentencepiece(),
                "this weft was built without SentencePiece, which subword tokens need: install "
                "libsentencepiece-dev (apt-get install libsentencepiece-dev), then build weft "
                "again with -DWEFT_SENTENCEPIECE=ON");
}

#ifdef WEFT_HAS_SENTENCEPIECE

namespace {

/// Hands sentences to the library one after the other.
class Sentences final : public sentencepiece::SentenceIterator {
 public:
  explicit Sentences(const std::vector<std::string>& all) : all_(all) {}

  bool done() const override { return next_ == all_.size(); }
  void Next() override { ++next_; }
  const std::string& value() const override { return all_[next_]; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  const std::vector<std::string>& all_;
  std::size_t next_ = 0;
};

/// "... smaller than required_chars. 300 vs 1234. ..." -> "1234"
std::string least_size_in(const std::string& message) {
  const std::size_t at = message.find(" vs ");
  if (message.find("required_chars") == message.npos || at == message.npos) return "";
  const std::size_t begin = at + 4;
  return message.substr(begin, message.find_first_not_of("0123456789", begin) - begin);
}

}  // namespace

struct PieceSearch::Library : sentencepiece::SentencePieceProcessor {};

PieceSearch::PieceSearch(const PieceTable& table) : library_(std::make_unique<Library>()) {
  const auto status = library_->LoadFromSerializedProto(table.file());
  if (!status.ok())
    throw core::Error(core::Fault::data,
                      core::message_of("SentencePiece refuses this tokenizer: ", status.message()),
                      "Train one with weft data tokenizer");
}

std::vector<int> PieceSearch::tokens(std::string_view text) const {
  std::vector<int> tokens;
  if (!library_->Encode(text, &tokens).ok()) tokens.clear();
  return tokens;
}

std::string train_sentencepiece(const std::vector<std::string>& sentences,
                                const TokenizerTraining& training) {
  Sentences all(sentences);
  std::string model;
  // The threads are part of the result, which adds up what each of them found; the cores are not.
  const auto status = sentencepiece::SentencePieceTrainer::Train(
      {{"model_type", training.form == PieceTable::Form::bpe ? "bpe" : "unigram"},
       {"vocab_size", std::to_string(training.size)},
       {"hard_vocab_limit", "false"},
       {"byte_fallback", "true"},
       {"normalization_rule_name", "identity"},
       {"remove_extra_whitespaces", "false"},
       {"add_dummy_prefix", "false"},
       {"allow_whitespace_only_pieces", "true"},
       {"unk_id", "0"},
       {"bos_id", "-1"},
       {"eos_id", "-1"},
       {"pad_id", "-1"},
       {"max_sentence_length", "65536"},
       {"num_threads", "8"},
       {"minloglevel", "3"}},
      &all, &model);
  if (status.ok()) return model;
  const std::string reason = status.message(), least = least_size_in(reason);
  if (!least.empty())
    throw core::Error(core::Fault::data,
                      core::message_of("a vocabulary of ", training.size,
                                       " has no room for the 256 bytes and the characters of this "
                                       "text: give it --size ",
                                       least, " or more"));
  throw core::Error(core::Fault::data,
                    core::message_of("SentencePiece cannot learn a tokenizer from this text: ",
                                     reason, ": give it more text, or another --size"));
}

#else

struct PieceSearch::Library {};

PieceSearch::PieceSearch(const PieceTable&) { require_sentencepiece(); }

std::vector<int> PieceSearch::tokens(std::string_view) const { return {}; }

std::string train_sentencepiece(const std::vector<std::string>&, const TokenizerTraining&) {
  require_sentencepiece();
  return {};
}

#endif

PieceSearch::~PieceSearch() = default;

}  // namespace weft::data
