#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace weft::experiments {

/// The contents of a page at some moment.
struct LivePage {
  std::string title, body;  ///< plain text, and markup
};

/// A page on 127.0.0.1 that renews itself: GET / is the page, GET /events a stream of server-sent
/// events with what has changed. It only answers GET, only to requests that name this host (a
/// foreign Host or Origin gets 403), and bounds their size, their time and their number.
class PageServer {
 public:
  struct Settings {
    std::uint16_t port = 0;    ///< 0: any that is free
    double seconds = 1;        ///< between two looks
    int connections = 32;      ///< at the same time
    double longest_wait = 10;  ///< seconds, for a whole request or until an answer has been taken
  };

  /// Binds the port; an Error (Fault::usage) when it is taken.
  explicit PageServer(const Settings& settings);
  PageServer(const PageServer&) = delete;
  PageServer& operator=(const PageServer&) = delete;
  ~PageServer();

  std::uint16_t port() const;

  /// Serves what `look` returns until `stops` says so, which is asked several times a second.
  void run(const std::function<LivePage()>& look, const std::function<bool()>& stops);

 private:
  class Server;
  std::unique_ptr<Server> server_;
};

}  // namespace weft::experiments
