#include "data/tasks/recall_settings.h"

#include "core/error.h"
#include "data/tasks/generated.h"

namespace weft::data {

void RecallSettings::fields(core::Fields& fields, Index length) {
  fields.integer("symbols", symbols, "ordinary symbols", core::between(2, 10000));
  fields.integer("keys", keys, "symbols that announce a payload", core::between(1, 10000));
  fields.integer("payload", payload, "symbols that follow a key and return with it",
                 core::at_least(1));
  fields.number("gap", gap, "mean number of ordinary symbols between recall events",
                core::at_least(0));
  fields.integer("successors", successors, "symbols that may follow an ordinary symbol",
                 core::at_least(1));
  fields.renamed("source", "language");
  fields.integer("language", language,
                 "number of the language: each number gives different transitions",
                 core::at_least(0));
  list_stream(fields, stream, length);
  list_held_out(fields, held_out);
  if (successors > symbols)
    fields.problem("successors", core::message_of("must be at most symbols, which is ", symbols));
  const Index needed = 2 * (payload + 1);
  if (length < needed)
    fields.problem("length", core::message_of("must be at least ", needed,
                                              ", so that a payload of ", payload, " can return"));
}

}  // namespace weft::data
