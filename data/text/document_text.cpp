#include "data/text/document_text.h"

#include <filesystem>

#include "core/parallel.h"
#include "data/documents/document_split.h"
#include "data/fingerprint.h"

namespace weft::data {
namespace {

/// Documents by split, in the order of the files that keep their texts.
struct Documents {
  std::vector<DocumentFile> files = {};
  std::vector<TextOrigin> origins = {};
  std::array<std::vector<std::string_view>, 3> texts = {};
  Index empty_lines = 0;
};

std::vector<std::string_view> read_files(const std::vector<std::string>& paths,
                                         const DocumentRule& rule, Documents& found) {
  std::vector<std::string_view> texts;
  for (const std::string& path : paths) {
    TextFile file = read_text_file(path);
    found.origins.push_back(origin_of(file));
    found.files.emplace_back(std::move(file), rule);
    found.empty_lines += found.files.back().empty_lines();
    for (const std::string_view text : found.files.back().texts()) texts.push_back(text);
  }
  return texts;
}

Documents read_documents(const TextDivision& division, const TextDocuments& how) {
  Documents found;
  std::size_t files = 0;
  for (const auto& paths : division.paths) files += paths.size();
  found.files.reserve(files);  // texts refer to them
  for (std::size_t i = 0; i < division.paths.size(); ++i) {
    const auto texts = read_files(division.paths[i], how.rule, found);
    std::vector<Split> splits(texts.size(), Split(i));
    if (division.fractions && i == 0) {
      std::vector<Index> sizes;
      for (const std::string_view text : texts) sizes.push_back(Index(text.size()));
      splits = split_documents(sizes, *division.fractions, how.seed);
    }
    for (std::size_t k = 0; k < texts.size(); ++k)
      found.texts[std::size_t(splits[k])].push_back(texts[k]);
  }
  return found;
}

/// A document and what divides it from the next one.
void append_document(std::string& text, std::string_view document, bool is_line) {
  text += document;
  for (const std::string_view end : {"\n", "\n\n"})
    if (!document.empty() && !text.ends_with(end) && (end.size() == 1 || !is_line)) text += '\n';
}

DividedText joined_by_lines(const Documents& found, const TextDivision& division,
                            const DocumentRule& rule) {
  const bool is_line = rule.form == DocumentRule::Form::lines && rule.field.empty();
  std::vector<TextFile> files;
  std::array<std::size_t, 3> counts{};
  for (std::size_t i = 0; i < found.texts.size(); ++i) {
    std::string text;
    for (const std::string_view document : found.texts[i]) append_document(text, document, is_line);
    if (text.empty()) continue;
    files.push_back({std::string(name_of(Split(i))), std::move(text)});
    counts[i] = 1;
  }
  return divide_texts(std::move(files), counts, division.units, division.known);
}

/// The alphabet, if there is one, is that of the documents.
Spelling spelling_of_documents(const Documents& found, const TextDivision& division) {
  std::vector<TextFile> copies;
  if (division.units.kind == Unit::characters)
    for (std::size_t i = 0; i < found.texts.size(); ++i)
      for (const std::string_view text : found.texts[i])
        copies.push_back({std::string(name_of(Split(i))), std::string(text)});
  return spelling_of(division.units, copies, division.known);
}

DividedText joined_by_boundaries(const Documents& found, const TextDivision& division) {
  TextFacts facts{.spelling = spelling_of_documents(found, division), .boundaries = true};
  PackedTokens tokens(facts.vocabulary());
  for (std::size_t i = 0; i < found.texts.size(); ++i) {
    const auto& texts = found.texts[i];
    facts.parts[i].begin = tokens.size();
    std::vector<std::vector<Token>> encoded(texts.size());
    core::parallel_for(Index(texts.size()), 16, [&](Index begin, Index end) {
      for (Index k = begin; k < end; ++k)
        encoded[std::size_t(k)] = facts.spelling.encode(texts[std::size_t(k)]);
    });
    if (!texts.empty()) tokens.append(*facts.boundary());
    for (std::vector<Token>& document : encoded) {
      for (const Token token : document) tokens.append(token);
      tokens.append(*facts.boundary());
      document = {};
    }
    facts.parts[i].size = tokens.size() - facts.parts[i].begin;
  }
  return {std::move(facts), std::move(tokens)};
}

}  // namespace

DocumentText read_document_text(const TextDivision& division, const TextDocuments& how) {
  Documents found = read_documents(division, how);
  DocumentText read{how.boundaries ? joined_by_boundaries(found, division)
                                   : joined_by_lines(found, division, how.rule)};
  read.text.facts.origins = std::move(found.origins);
  for (std::size_t i = 0; i < found.texts.size(); ++i)
    read.documents[i] = Index(found.texts[i].size());
  read.empty_lines = found.empty_lines;
  return read;
}

}  // namespace weft::data
