#include "data/tasks/generated.h"

#include <algorithm>

#include "core/error.h"
#include "data/windows.h"

namespace weft::data {

Index segments_of(Index stream, Index length) {
  core::require(stream % length == 0, "data.stream must be a multiple of data.length, ", length,
                "; got ", stream);
  return std::max<Index>(1, stream / length);
}

void list_stream(core::Fields& fields, Index& stream, Index length) {
  fields.integer("stream", stream,
                 "length of a stream, which successive batches read in segments of data.length; 0: "
                 "every batch starts new sequences",
                 core::at_least(0));
  if (stream % std::max<Index>(length, 1) != 0)
    fields.problem("stream", core::message_of("must be a multiple of data.length, ", length));
}

void list_held_out(core::Fields& fields, Index& held_out) {
  fields.integer("held_out", held_out, "sequences to validate on, and as many to test on",
                 core::at_least(1));
}

Generated::Generated(Index length, Index batch, Index held_out, Alphabet alphabet, Index segments)
    : length_(length),
      batch_(batch),
      held_out_(held_out),
      segments_(segments),
      alphabet_(std::move(alphabet)) {
  core::require(held_out >= 1, "data.held_out must be at least 1, got ", held_out);
}

Batch Generated::sequences(Split split, Index begin, Index end, Index segment, Index count) const {
  BatchRows rows(count, length_ * segments_);
  for (Index row = 0; begin + row < end; ++row) draw(stream(split, begin + row), rows, row);
  Batch whole = std::move(rows).finish();
  if (segments_ == 1) return whole;
  const auto cut = [&](const core::Tokens& tokens) {
    if (tokens.size() == 0) return tokens;
    std::vector<Token> ids;
    for (Index row = 0; row < count; ++row) {
      const auto from = tokens.read().subspan(std::size_t((row * segments_ + segment) * length_),
                                              std::size_t(length_));
      ids.insert(ids.end(), from.begin(), from.end());
    }
    return core::Tokens({count, length_}, std::move(ids));
  };
  Batch part;
  part.inputs = cut(whole.inputs);
  part.targets = cut(whole.targets);
  part.distances = cut(whole.distances);
  part.continues = segment > 0;
  return part;
}

Batch Generated::read_training(Index number, core::Stretch rows) const {
  const Index first = number / segments_ * batch_;
  return sequences(Split::training, first + rows.begin, first + rows.end, number % segments_,
                   rows.size());
}

Index Generated::evaluation_batches(Split, Index stride) const {
  check_stride(stride, length_);
  return (held_out_ + batch_ - 1) / batch_ * segments_;
}

Batch Generated::evaluation(Split split, Index number, Index stride) const {
  core::require(number >= 0 && number < evaluation_batches(split, stride), "data: ", name_of(split),
                " batch ", number, " does not exist");
  const Index first = number / segments_ * batch_;
  return sequences(split, first, std::min(first + batch_, held_out_), number % segments_, batch_);
}

}  // namespace weft::data
