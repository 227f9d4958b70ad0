#include "data/questions/qa.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/error.h"
#include "data/files/text_file.h"
#include "data/fingerprint.h"
#include "data/plan.h"
#include "data/shuffle.h"

namespace weft::data {
namespace {

/// Adds what a file says to `ids`, which must all differ, since predictions are identified by them.
void check_ids(const std::vector<SquadArticle>& articles, const std::string& path,
               std::set<std::string>& ids) {
  for (const SquadArticle& article : articles)
    for (const SquadParagraph& paragraph : article.paragraphs)
      for (const SquadQuestion& question : paragraph.questions)
        if (!ids.insert(question.id).second)
          throw core::Error(core::Fault::data,
                            core::message_of(path, ": the id ", question.id,
                                             " is that of another question too: make ids unique"));
}

Index most_answers_in(const std::array<std::vector<SquadArticle>, 3>& splits) {
  std::size_t most = 1;
  for (const auto& articles : splits)
    for (const SquadArticle& article : articles)
      for (const SquadParagraph& paragraph : article.paragraphs)
        for (const SquadQuestion& question : paragraph.questions)
          most = std::max(most, question.answers.size());
  return Index(most);
}

}  // namespace

struct Qa::Source {
  std::array<std::vector<SquadArticle>, 3> splits;
  std::string text;      ///< everything that is spelled
  std::string identity;  ///< of files and settings
  std::string path;      ///< for errors

  Source(const QaSettings& settings, Index length) {
    const SplitFiles& files = settings.files;
    files.require_one_way();
    identity = core::message_of("qa units=", name_of(settings.units), " length=", length,
                                " question=", settings.longest_question(length),
                                " stride=", settings.stride);
    std::set<std::string> ids;
    const auto load = [&](const std::string& name) {
      const TextFile file = read_text_file(name);
      auto articles = parse_squad(file.bytes, name);
      check_ids(articles, name, ids);
      identity += "\n" + fingerprint_of(file.bytes);
      path = name;
      return articles;
    };
    if (files.divided()) divide(load(files.path), files.fractions);
    const auto paths = files.split_paths();
    for (std::size_t i = 0; i < paths.size(); ++i)
      if (!paths[i].empty()) splits[i] = load(paths[i]);
    for (const auto& articles : splits) {
      identity += core::message_of("\narticles=", articles.size());
      for (const SquadArticle& article : articles) add_text(article);
    }
  }

  void divide(std::vector<SquadArticle> articles, const std::vector<double>& fractions) {
    std::map<std::string, Index> titles;
    std::vector<Index> groups;
    for (std::size_t i = 0; i < articles.size(); ++i) {
      const std::string title =
          articles[i].title.empty() ? core::message_of("\n", i) : articles[i].title;
      groups.push_back(titles.try_emplace(title, Index(titles.size())).first->second);
    }
    const auto chosen =
        divide_groups(groups, Index(titles.size()), fractions, core::Rng(0).fold("qa splits"));
    for (std::size_t i = 0; i < articles.size(); ++i)
      if (chosen[i] < splits.size()) splits[chosen[i]].push_back(std::move(articles[i]));
  }

  void add_text(const SquadArticle& article) {
    for (const SquadParagraph& paragraph : article.paragraphs) {
      text += paragraph.context;
      for (const SquadQuestion& question : paragraph.questions) text += question.text;
    }
  }
};

void QaSettings::fields(core::Fields& fields, Index length) {
  files.list_paths(fields, "one JSON file of SQuAD, divided into splits by fractions of articles");
  list_units(fields, units);
  fields.integer("question_length", question_length,
                 "the most tokens of a question, longer ones are cut; 0: a quarter of data.length",
                 core::at_least(0));
  fields.integer("stride", stride,
                 "tokens between the windows of a document that does not fit; 0: half a window",
                 core::at_least(0));
  files.check_paths(fields, "a JSON file of SQuAD 1.1 or 2.0");
  fields.when(files.divided(), "one file in data.path",
              [&] { files.list_fractions(fields, "by articles in random order"); });
  const Index left = length - 2 - longest_question(length);
  if (longest_question(length) < 1 || left < 1)
    fields.problem("question_length",
                   core::message_of("leaves no room for a document in data.length, ", length));
  else if (stride > left)
    fields.problem("stride", core::message_of("must be at most ", left,
                                              ", what is left for a document after the longest "
                                              "question"));
}

DataPlan configure_qa(core::Fields& fields, Index length) {
  QaSettings settings;
  settings.fields(fields, length);
  return plan_for_files<Qa>(settings, length, {.pads = true, .asks = true});
}

Qa::Qa(const QaSettings& settings, Index length, Index batch, std::uint64_t seed)
    : Qa(settings, length, batch, seed, Source(settings, length)) {}

Qa::Qa(const QaSettings& settings, Index length, Index batch, std::uint64_t seed, Source source)
    : QuestionData(length, batch, true, most_answers_in(source.splits)),
      settings_(settings),
      spelling_(settings.units, first_free, std::move(source.text), source.path, settings.known),
      seed_(seed),
      fingerprint_(fingerprint_of(source.identity)) {
  const Index left = length - 2 - settings.longest_question(length);
  core::require(settings.longest_question(length) >= 1 && left >= 1 && settings.stride <= left,
                "qa: questions of ", settings.longest_question(length), " tokens and a stride of ",
                settings.stride, " do not fit in sequences of ", length);
  for (std::size_t i = 0; i < splits_.size(); ++i)
    for (const SquadArticle& article : source.splits[i]) add_article(article, splits_[i]);
  sort_training_windows();
}

void Qa::add_article(const SquadArticle& article, SplitQuestions& into) {
  for (const SquadParagraph& paragraph : article.paragraphs) {
    if (paragraph.questions.empty()) continue;
    const std::string_view context = paragraph.context;
    const auto tokens_of = [&](std::size_t begin, std::size_t end) {
      return spelling_.is_bytes() ? Index(end - begin)
                                  : Index(encode(context.substr(begin, end - begin)).size());
    };
    documents_.push_back(encode(context));
    for (const SquadQuestion& question : paragraph.questions) {
      Asked asked{question.id, documents_.size() - 1, encode(question.text),
                  {},          question.texts,        Index(into.window_of.size())};
      const auto longest = std::size_t(settings_.longest_question(length()));
      cut_ += asked.tokens.size() > longest;
      asked.tokens.resize(std::min(asked.tokens.size(), longest));
      for (const SquadAnswer& answer : question.answers) {
        const Index first = tokens_of(0, answer.begin);
        asked.answers.emplace_back(first, first + tokens_of(answer.begin, answer.end) - 1);
      }
      into.window_of.insert(into.window_of.end(), std::size_t(windows_of(asked).count()),
                            into.questions.size());
      into.questions.push_back(std::move(asked));
    }
  }
}

Windows Qa::windows_of(const Asked& asked) const {
  return document_windows(Index(documents_[asked.document].size()), Index(asked.tokens.size()),
                          length(), settings_.stride);
}

void Qa::sort_training_windows() {
  std::vector<bool> found(of(Split::training).questions.size());
  for (Index i = 0; i < Index(of(Split::training).window_of.size()); ++i) {
    const bool holds = window(Split::training, i).answers[0].first > 0;
    (holds ? with_answer_ : without_).push_back(i);
    if (holds) found[of(Split::training).window_of[std::size_t(i)]] = true;
  }
  for (std::size_t q = 0; q < found.size(); ++q)
    unseen_ += !found[q] && !of(Split::training).questions[q].answers.empty();
  if (with_answer_.empty())
    throw core::Error(core::Fault::data,
                      "no window of the training split holds an answer: raise data.length, give "
                      "training a larger share in data.fractions, or name a file with answers");
}

QuestionWindow Qa::window(Split split, Index number) const {
  const Asked& asked = of(split).questions[of(split).window_of[std::size_t(number)]];
  const Window place = windows_of(asked)[number - asked.first_window];
  const auto& document = documents_[asked.document];
  QuestionWindow window = join_window(asked.tokens, document, place);
  for (const auto& [first, last] : asked.answers)
    if (first >= place.begin && last < place.end)
      window.answers.emplace_back(first - place.begin + window.document,
                                  last - place.begin + window.document);
  if (window.answers.empty()) window.answers = {{0, 0}};
  return window;
}

QuestionWindow Qa::training_window(Index number) const {
  const auto with = Index(with_answer_.size()), without = Index(without_.size());
  const Index epoch_size = with + std::min(with, without), epoch = number / epoch_size;
  const core::Rng orders = core::Rng(seed_).fold("qa order").fold(std::uint64_t(epoch));
  const Index place = Shuffle(epoch_size, orders)[number % epoch_size];
  if (place < with) return window(Split::training, with_answer_[std::size_t(place)]);
  const Shuffle others(without, orders.fold("without answer"));
  return window(Split::training, without_[std::size_t(others[place - with])]);
}

Index Qa::windows(Split split) const {
  questions(split);
  return Index(of(split).window_of.size());
}

Index Qa::questions(Split split) const {
  if (of(split).questions.empty())
    throw core::Error(core::Fault::data,
                      core::message_of("the ", name_of(split),
                                       " split holds no question: give it a larger share in "
                                       "data.fractions, or a separate file in data.",
                                       name_of(split), "_path"));
  return Index(of(split).questions.size());
}

Question Qa::question(Split split, Index number) const {
  const Asked& asked = of(split).questions[std::size_t(number)];
  Index place = 0;
  for (const auto& [first, last] : asked.answers)
    place = place == 0 ? first + 1 : std::min(place, first + 1);
  return {asked.id, asked.texts, place, asked.first_window, windows_of(asked).count()};
}

std::string Qa::answer_text(Split split, Index number, Index first, Index last) const {
  const QuestionWindow own = window(split, number);
  return decode(std::span(own.tokens).subspan(std::size_t(first), std::size_t(last - first + 1)));
}

std::optional<Index> Qa::training_tokens() const {
  Index total = 0;
  for (std::size_t i = 0; i < of(Split::training).questions.size(); ++i) {
    const Asked& asked = of(Split::training).questions[i];
    total += Index(asked.tokens.size() + documents_[asked.document].size());
  }
  return total;
}

std::vector<Baseline> Qa::baselines(Split split) const {
  Index without = 0;
  for (const Asked& asked : of(split).questions) without += asked.answers.empty();
  if (without == 0) return {};
  return {{"always no answer", double(without) / double(questions(split))}};
}

std::vector<std::string> Qa::remarks() const {
  std::vector<std::string> said;
  if (cut_ > 0)
    said.push_back(core::message_of(cut_, " questions are cut at ",
                                    settings_.longest_question(length()),
                                    " tokens (data.question_length)"));
  if (unseen_ > 0)
    said.push_back(core::message_of(unseen_,
                                    " questions of training have no answer that fits in "
                                    "a window: raise data.length, or lower data.stride"));
  return said;
}

}  // namespace weft::data
