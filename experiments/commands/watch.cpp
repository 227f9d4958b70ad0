#include <unistd.h>

#include <iostream>
#include <thread>

#include "core/error.h"
#include "experiments/commands/commands.h"
#include "experiments/console/command_line.h"
#include "experiments/console/live_text.h"
#include "experiments/console/progress.h"
#include "experiments/run/stop_signal.h"
#include "experiments/watch/server.h"
#include "experiments/watch/watched.h"

namespace weft::experiments {
namespace {

/// Redraws lines in place until a signal; where there is no terminal, prints them once.
int watch_in_terminal(Watched& watched) {
  LiveText display(std::cout, [] { return terminal_columns(STDOUT_FILENO); });
  if (!display.is_live()) {
    for (const std::string& line : watched_lines(watched.look())) std::cout << line << '\n';
    return 0;
  }
  const StopSignal stop;
  while (!stop.requested()) {
    display.show(watched_lines(watched.look()));
    for (int i = 0; i < 10 && !stop.requested(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  display.leave();
  return 0;
}

int serve(Watched& watched, std::uint16_t port) {
  PageServer server({.port = port});
  std::cout << "http://127.0.0.1:" << server.port() << "/ shows it live; Ctrl-C ends this"
            << std::endl;
  const StopSignal stop;
  server.run(
      [&] {
        const WatchedState state = watched.look();
        return LivePage{state.title, watched_body(state)};
      },
      [&] { return stop.requested(); });
  return 0;
}

}  // namespace

int watch_command(const Arguments& arguments) {
  CommandLine line("weft watch RUN|SWEEP",
                   "Shows a run, a sweep or a folder of runs while they run: progress and time "
                   "left of each trial, curves and samples, as a page that updates itself and is "
                   "served to this machine only (127.0.0.1), or in the terminal. It only reads "
                   "files; runs may start later, stop and continue.");
  line.words(1, 1, "RUN or SWEEP")
      .option("port", "N", "port of the page; 0: any free port", "6007")
      .flag("tui", "show it in the terminal instead");
  if (!line.parse(arguments)) return 0;
  Watched watched(line.words()[0]);
  if (line.has("tui")) return watch_in_terminal(watched);
  const core::Index port = line.integer("port");
  core::require(port >= 0 && port <= 65535, "--port ", port, " is not between 0 and 65535");
  return serve(watched, std::uint16_t(port));
}

}  // namespace weft::experiments
