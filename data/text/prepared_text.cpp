#include "data/text/prepared_text.h"

#include "core/error.h"
#include "core/files/file_seal.h"
#include "core/files/hdf5_file.h"
#include "core/files/hdf5_outline.h"
#include "core/files/hdf5_structure.h"
#include "core/files/staged_file.h"
#include "data/files/refuse_file.h"
#include "data/tokens/file_tokens.h"

namespace weft::data {
namespace {

constexpr std::int64_t format = 2;  // 1 where there are neither pieces nor boundaries
constexpr char32_t last_character = 0x10ffff;

template <class Value>
Value attribute_of(const core::Hdf5File& file, const std::string& path, const std::string& name) {
  if (file.has_attribute("/", name)) {
    const auto value = file.attribute("/", name);
    if (const Value* own = std::get_if<Value>(&value)) return *own;
  }
  refuse_file(path, "is HDF5, but no text that weft prepared (it has no '", name, "')");
}

Spelling read_spelling(const core::Hdf5File& file, const std::string& path) {
  const auto units = attribute_of<std::string>(file, path, "units");
  if (units == "bytes") return Spelling::bytes();
  if (units == "sentencepiece") {
    const auto model = file.read<std::uint8_t>("tokenizer");
    return Spelling(
        Tokenizer(PieceTable({reinterpret_cast<const char*>(model.data()), model.size()},
                             "the tokenizer in '" + path + "'")));
  }
  const auto codes = file.read<std::int32_t>("alphabet");
  std::vector<char32_t> characters;
  for (const std::int32_t code : codes) {
    if (code < 0 || char32_t(code) > last_character || (code >= 0xd800 && code < 0xe000))
      refuse_file(path, "lists ", code, ", which is no character");
    characters.push_back(char32_t(code));
  }
  if (characters.empty()) refuse_file(path, "has an empty alphabet");
  return Spelling(Alphabet(std::move(characters)));
}

std::array<TokenRange, 3> read_parts(const core::Hdf5File& file, const std::string& path,
                                     Index tokens) {
  if (!(file.shape("splits") == core::Shape{3, 2})) refuse_file(path, "does not have three splits");
  const auto numbers = file.read<std::int64_t>("splits");
  std::array<TokenRange, 3> parts;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    parts[i] = {.begin = numbers[2 * i], .size = numbers[2 * i + 1]};
    const auto [begin, size] = parts[i];
    if (begin < 0 || size < 0 || begin > tokens || size > tokens - begin)
      refuse_file(path, "has splits beyond its ", tokens, " tokens");
    for (std::size_t other = 0; other < i; ++other)
      if (begin < parts[other].begin + parts[other].size && parts[other].begin < begin + size)
        refuse_file(path, "has splits that overlap");
  }
  return parts;
}

/// The tokens where they lie in the file.
std::unique_ptr<FileTokens> locate_tokens(const core::Hdf5File& file, const std::string& path,
                                          Index vocabulary) {
  const core::Shape shape = file.shape("tokens");
  if (shape.rank() != 1) refuse_file(path, "has tokens of shape ", shape, ", not a single row");
  const auto narrow = file.place<std::uint8_t>("tokens");
  const auto middle = file.place<std::uint16_t>("tokens");
  const auto wide = file.place<std::int32_t>("tokens");
  const auto begin = narrow ? narrow : middle ? middle : wide;
  if (!begin) refuse_file(path, "stores its tokens in another way than weft does");
  const Index width = narrow ? 1 : middle ? 2 : 4;
  const Index room = Index(std::filesystem::file_size(path)) - *begin;
  if (shape.size() > room / width) refuse_file(path, "ends before its last token");
  return std::make_unique<FileTokens>(path, *begin, shape.size(), width, vocabulary);
}

PreparedText open_sealed(const std::string& path) {
  // HDF5 itself may crash on damaged files, and a seal is no signature: it sees neither.
  const core::SealCheck seal = core::check_seal(path);
  if (!seal.problem.empty()) refuse_file(path, "cannot be used: ", seal.problem);
  core::check_hdf5_structure(path);
  const core::Hdf5File file = core::Hdf5File::open(path);
  const auto written = attribute_of<std::int64_t>(file, path, "format");
  core::require(written <= format, path, ": has format ", written, ", this weft reads up to ",
                format, "; use a newer weft");
  PreparedText text{.facts = {}, .tokens = {}, .fingerprint = seal.xxh3_128};
  text.facts.spelling = read_spelling(file, path);
  text.facts.boundaries = file.has_attribute("/", "boundaries");
  text.tokens = locate_tokens(file, path, text.facts.vocabulary());
  text.facts.parts = read_parts(file, path, text.tokens->size());
  return text;
}

/// Everything in the file but the tokens.
core::Hdf5Outline::Bytes outline_of(const std::string& path, const TextFacts& facts, Index tokens,
                                    Index width) {
  core::Hdf5Outline outline(path);
  core::Hdf5File& file = outline.file();
  const auto& tokenizer = facts.spelling.tokenizer();
  const bool boundaries = facts.boundaries;
  file.set_attribute("/", "format", tokenizer || boundaries ? format : std::int64_t(1));
  if (boundaries) file.set_attribute("/", "boundaries", std::int64_t(1));
  if (tokenizer) {
    const std::string model = tokenizer->file();
    file.write<std::uint8_t>("tokenizer", {Index(model.size())},
                             {reinterpret_cast<const std::uint8_t*>(model.data()), model.size()});
  }
  file.set_attribute("/", "units", tokenizer ? "sentencepiece" : facts.unit() + "s");
  if (width == 1) outline.leave_out<std::uint8_t>("tokens", tokens);
  if (width == 2) outline.leave_out<std::uint16_t>("tokens", tokens);
  if (width == 4) outline.leave_out<std::int32_t>("tokens", tokens);
  if (const auto& alphabet = facts.spelling.alphabet()) {
    const std::vector<std::int32_t> codes(alphabet->characters().begin(),
                                          alphabet->characters().end());
    file.write<std::int32_t>("alphabet", {Index(codes.size())}, codes);
  }
  std::vector<std::int64_t> splits;
  for (const TokenRange& part : facts.parts) splits.insert(splits.end(), {part.begin, part.size});
  file.write<std::int64_t>("splits", {3, 2}, splits);
  for (std::size_t i = 0; i < facts.origins.size(); ++i) {
    const std::string group = "sources/" + std::to_string(i);
    file.set_attribute(group, "name", facts.origins[i].name);
    file.set_attribute(group, "bytes", std::int64_t(facts.origins[i].bytes));
    file.set_attribute(group, "xxh3_128", facts.origins[i].fingerprint);
  }
  return outline.finish();
}

/// How many bytes everything but the tokens can take, roughly and rather too many.
Index most_outline_bytes(const TextFacts& facts) {
  const Index model = facts.spelling.tokenizer() ? Index(facts.spelling.tokenizer()->file().size())
                                                 : 4 * facts.vocabulary();
  return (Index(1) << 16) + model + 2048 * Index(facts.origins.size());
}

}  // namespace

std::string write_prepared_text(const std::filesystem::path& path, const TextFacts& facts,
                                TokenFiles& tokens) {
  core::StagedFile staged(path);
  const Index token_bytes = tokens.size() * tokens.width();
  staged.check_length(token_bytes + most_outline_bytes(facts));  // HDF5 would not survive it
  const auto outline = outline_of(path.string(), facts, tokens.size(), tokens.width());
  core::Digest digest;
  const auto append = [&](std::span<const std::byte> bytes) {
    digest.add(bytes);
    staged.append(bytes);
  };
  append(outline.before);
  tokens.read(append);
  append(outline.after);
  const std::string seal = core::seal_of(digest);
  staged.append(std::as_bytes(std::span(seal)));
  staged.sync();
  const core::SealCheck check = core::check_seal(staged.temporary());  // what is on disk
  const Index size = Index(outline.before.size() + outline.after.size() + seal.size());
  if (!check.problem.empty() || check.bytes != token_bytes + size)
    refuse_file(path.string(), "does not read back as written; check that disk");
  staged.commit();
  return check.xxh3_128;
}

PreparedText open_prepared_text(const std::string& path) {
  if (!std::filesystem::is_regular_file(path))
    refuse_file(path, "does not exist: correct data.path, or make it with weft data prepare");
  try {
    return open_sealed(path);
  } catch (const core::Error& error) {
    if (error.fault() != core::Fault::data) throw;
    throw core::Error(core::Fault::data,
                      std::string(error.what()) + ": make it again with weft data prepare");
  }
}

}  // namespace weft::data
