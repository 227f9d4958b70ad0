#include "data/spelling/piece_table.h"

#include <cmath>
#include <optional>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>
#include <unordered_set>

#include "core/error.h"
#include "data/spelling/utf8.h"

namespace weft::data {
namespace {

using core::Token;
using protozero::pbf_wire_type;

constexpr std::size_t most_bytes = std::size_t(64) << 20, most_pieces = std::size_t(1) << 20,
                      longest_piece = 4096;
constexpr std::string_view space = "\u2581";

// The fields of SentencePiece's messages that are read or written here.
namespace model {
constexpr protozero::pbf_tag_type piece = 1, training = 2, normalizing = 3;
}
namespace piece {
constexpr protozero::pbf_tag_type text = 1, score = 2, kind = 3;
}
namespace training {
constexpr protozero::pbf_tag_type form = 3, vocabulary = 4, byte_fallback = 35, unknown = 40,
                                  begin = 41, end = 42, padding = 43, unknown_text = 45;
}
namespace normalizing {
constexpr protozero::pbf_tag_type name = 1, dummy_prefix = 3, remove_spaces = 4, escape_spaces = 5;
}

template <class... Parts>
[[noreturn]] void refuse(const std::string& name, const Parts&... parts) {
  throw core::Error(core::Fault::data, core::message_of(name, " ", parts...),
                    "Train a tokenizer with weft data tokenizer");
}

constexpr std::uint32_t varint(protozero::pbf_tag_type tag) {
  return protozero::tag_and_type(tag, pbf_wire_type::varint);
}
constexpr std::uint32_t bytes(protozero::pbf_tag_type tag) {
  return protozero::tag_and_type(tag, pbf_wire_type::length_delimited);
}

Piece read_piece(protozero::pbf_reader message, const std::string& name) {
  Piece read;
  while (message.next()) switch (message.tag_and_type()) {
      case bytes(piece::text):
        read.text = message.get_string();
        break;
      case protozero::tag_and_type(piece::score, pbf_wire_type::fixed32):
        read.score = message.get_float();
        break;
      case varint(piece::kind): {
        const std::int32_t kind = message.get_enum();
        if (kind < 1 || kind > 6) refuse(name, "has a piece of unknown kind ", kind);
        read.kind = Piece::Kind(kind);
        break;
      }
      default:
        message.skip();
    }
  return read;
}

std::int32_t read_form(protozero::pbf_reader message) {
  std::int32_t form = 1;
  while (message.next())
    if (message.tag_and_type() == varint(training::form))
      form = message.get_enum();
    else
      message.skip();
  return form;
}

/// The byte that a piece like <0x0A> stands for.
std::optional<char> byte_of(const std::string& text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  if (text.size() != 6 || !text.starts_with("<0x") || text[5] != '>') return {};
  const std::size_t high = digits.find(text[3]), low = digits.find(text[4]);
  if (high == digits.npos || low == digits.npos) return {};
  return char(16 * high + low);
}

std::string with_spaces(const std::string& piece) {
  std::string text;
  for (std::size_t at = 0; at < piece.size();)
    if (piece.compare(at, space.size(), space) == 0) {
      text += ' ';
      at += space.size();
    } else {
      text += piece[at++];
    }
  return text;
}

bool is_utf8(const std::string& text) {
  for (std::size_t at = 0; at < text.size();)
    if (!read_character(text, at)) return false;
  return true;
}

}  // namespace

PieceTable::PieceTable(std::string_view file, const std::string& name) {
  if (file.size() > most_bytes)
    refuse(name, "has ", file.size(), " bytes, more than any tokenizer needs");
  std::int32_t form = 1;
  try {
    for (protozero::pbf_reader message(file.data(), file.size()); message.next();)
      switch (message.tag_and_type()) {
        case bytes(model::piece):
          if (pieces_.size() == most_pieces) refuse(name, "has over ", most_pieces, " pieces");
          pieces_.push_back(read_piece(message.get_message(), name));
          break;
        case bytes(model::training):
          form = read_form(message.get_message());
          break;
        default:
          message.skip();
      }
  } catch (const protozero::exception&) {
    refuse(name, "is damaged, or no SentencePiece model");
  }
  if (pieces_.empty()) refuse(name, "is no SentencePiece model");
  if (form != 1 && form != 2)
    refuse(name, "is a SentencePiece model of words or characters, neither unigram nor BPE");
  form_ = Form(form);
  check(name);
}

/// What the library relies on without looking, and what makes every text representable.
void PieceTable::check(const std::string& name) {
  std::unordered_set<std::string_view> known;
  bytes_.fill(-1);
  std::size_t unknowns = 0, different_bytes = 0;
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    const Piece& own = pieces_[i];
    const auto problem = [&](const char* what) { refuse(name, "has a piece ", i, " ", what); };
    if (own.text.empty() || own.text.size() > longest_piece) problem("of impossible length");
    if (own.text.find('\0') != own.text.npos || !is_utf8(own.text)) problem("that is no UTF-8");
    if (!known.insert(own.text).second) problem("that occurs twice");
    if (!(std::abs(own.score) <= 1e9F)) problem("of impossible score");
    unknowns += own.kind == Piece::Kind::unknown;
    if (own.kind == Piece::Kind::byte) {
      const auto byte = byte_of(own.text);
      if (!byte) problem("that is meant to be a byte and is none");
      bytes_[std::uint8_t(*byte)] = Token(i);
      ++different_bytes;
      texts_.emplace_back(1, *byte);
    } else {
      const bool is_text = own.kind != Piece::Kind::control && own.kind != Piece::Kind::unknown;
      texts_.push_back(is_text ? with_spaces(own.text) : "");
    }
  }
  if (unknowns != 1) refuse(name, "has ", unknowns, " pieces for what is unknown, not one");
  if (different_bytes != 256)
    refuse(name, "has pieces for ", different_bytes,
           " of the 256 bytes (byte fallback), so that it cannot write every text");
}

std::string PieceTable::file() const {
  std::string data;
  protozero::pbf_writer file(data);
  std::int32_t unknown = 0;
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    protozero::pbf_writer message(file, model::piece);
    message.add_string(piece::text, pieces_[i].text);
    message.add_float(piece::score, pieces_[i].score);
    message.add_enum(piece::kind, std::int32_t(pieces_[i].kind));
    if (pieces_[i].kind == Piece::Kind::unknown) unknown = std::int32_t(i);
  }
  {
    protozero::pbf_writer message(file, model::training);
    message.add_enum(training::form, std::int32_t(form_));
    message.add_int32(training::vocabulary, std::int32_t(pieces_.size()));
    message.add_bool(training::byte_fallback, true);
    message.add_int32(training::unknown, unknown);
    for (const auto absent : {training::begin, training::end, training::padding})
      message.add_int32(absent, -1);
    message.add_string(training::unknown_text, pieces_[std::size_t(unknown)].text);
  }
  protozero::pbf_writer message(file, model::normalizing);
  message.add_string(normalizing::name, "identity");
  message.add_bool(normalizing::dummy_prefix, false);
  message.add_bool(normalizing::remove_spaces, false);
  message.add_bool(normalizing::escape_spaces, true);
  return data;
}

}  // namespace weft::data
