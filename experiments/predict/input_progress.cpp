#include "experiments/predict/input_progress.h"

#include <ostream>

#include "experiments/console/number_text.h"

namespace weft::experiments {

InputProgress::InputProgress(std::ostream& out, int columns, std::uint64_t whole,
                             std::function<double()> clock)
    : out_(out),
      live_(out, columns),
      whole_(whole),
      clock_(std::move(clock)),
      begin_(clock_()),
      shown_(begin_) {}

void InputProgress::update(core::Index records, std::uint64_t bytes) {
  const double now = clock_(), seconds = now - begin_;
  if (now - shown_ < (live_.is_live() ? 0.5 : 10)) return;
  shown_ = now;
  std::string line = format_number_of(double(records), "line") + ", " +
                     format_count(double(records) / seconds) + " a second";
  if (whole_ > 0 && bytes > 0) {
    const double done = double(bytes) / double(whole_);
    line = format_fixed(100 * done, 1) + "%  " + line + ", ETA " +
           format_duration(seconds * (1 - done) / done);
  }
  if (live_.is_live())
    live_.show({line});
  else
    out_ << line << std::endl;
}

}  // namespace weft::experiments
