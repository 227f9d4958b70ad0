#include "experiments/watch/server.h"

#include <algorithm>
#include <boost/asio.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <list>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/error.h"
#include "experiments/draw/page.h"

namespace weft::experiments {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using tcp = asio::ip::tcp;

constexpr std::uint32_t longest_header = 8 * 1024;
constexpr auto before_next_try = std::chrono::milliseconds(200);  // to accept, where files ran out

/// No other page may read or embed an answer, whatever it takes it for.
constexpr std::pair<const char*, const char*> guards[] = {
    {"X-Content-Type-Options", "nosniff"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Referrer-Policy", "no-referrer"},
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'unsafe-inline'; "
     "img-src "
     "data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
    {"Cache-Control", "no-store"},
    {"Connection", "close"}};

constexpr const char* live_script = R"js("use strict";
const page = document.querySelector("main");
const events = new EventSource("/events");
events.onmessage = (event) => {
  const now = JSON.parse(event.data);
  const open = [...page.querySelectorAll("details")].map((d) => d.open);
  document.title = now.title;
  page.innerHTML = now.body;
  page.querySelectorAll("details").forEach((d, i) => { d.open = !!open[i]; });
  document.body.classList.remove("lost");
};
events.onerror = () => document.body.classList.add("lost");
)js";

using Request = http::request<http::empty_body>;
using Response = http::response<http::string_body>;

Response answer(http::status status, const std::string& kind, std::string body) {
  Response response{status, 11};
  response.set(http::field::content_type, kind + "; charset=utf-8");
  for (const auto& [name, value] : guards) response.set(name, value);
  response.body() = std::move(body);
  response.prepare_payload();
  return response;
}

std::string guards_text() {
  std::string text;
  for (const auto& [name, value] : guards) text += std::string(name) + ": " + value + "\r\n";
  return text;
}

/// As an event: one line of JSON.
std::string event_of(const LivePage& page) {
  const nlohmann::json json = {{"title", page.title}, {"body", page.body}};
  return "data: " + json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n\n";
}

}  // namespace

/// All on one thread. A connection reads one request and ends with its answer, unless it listens to
/// events.
class PageServer::Server {
 public:
  explicit Server(const Settings& settings)
      : settings_(settings),
        acceptor_(context_),
        accept_timer_(context_),
        look_timer_(context_),
        stop_timer_(context_) {
    const tcp::endpoint place(asio::ip::address_v4::loopback(), settings.port);
    beast::error_code fault;
    acceptor_.open(place.protocol(), fault);
    if (!fault) acceptor_.set_option(asio::socket_base::reuse_address(true), fault);
    if (!fault) acceptor_.bind(place, fault);
    if (!fault) acceptor_.listen(16, fault);
    core::require(!fault, "cannot serve on 127.0.0.1:", settings.port, ": ", fault.message(),
                  "; choose another port with --port N");
    const std::string port = std::to_string(acceptor_.local_endpoint().port());
    for (const char* const name : {"127.0.0.1:", "localhost:"}) hosts_.push_back(name + port);
  }

  std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

  void run(const std::function<LivePage()>& look, const std::function<bool()>& stops) {
    look_ = look;
    page_ = look_();
    accept();
    look_again();
    watch_for_stop(stops);
    context_.run();
  }

 private:
  struct Connection {
    explicit Connection(tcp::socket socket) : stream(std::move(socket)) {}
    beast::tcp_stream stream;
    beast::flat_buffer buffer{longest_header};
    std::optional<http::request_parser<http::empty_body>> parser;
    std::unique_ptr<Response> response;
    std::string sending, seen;  ///< an event on its way; the one that was sent last
    bool listens = false;
  };
  using Place = std::list<Connection>::iterator;

  void accept() {
    acceptor_.async_accept([this](beast::error_code fault, tcp::socket socket) {
      if (fault == asio::error::operation_aborted) return;
      if (!fault && int(connections_.size()) < settings_.connections)
        read(connections_.emplace(connections_.end(), std::move(socket)));
      if (fault) return accept_later();
      accept();  // one too many is closed at once
    });
  }

  void accept_later() {
    accept_timer_.expires_after(before_next_try);
    accept_timer_.async_wait([this](beast::error_code fault) {
      if (!fault) accept();
    });
  }

  void read(Place it) {
    it->parser.emplace();
    it->parser->header_limit(longest_header);
    it->parser->body_limit(0);
    it->stream.expires_after(longest_wait());
    http::async_read(it->stream, it->buffer, *it->parser,
                     [this, it](beast::error_code fault, std::size_t) {
                       if (fault) return connections_.erase(it), void();
                       reply(it, it->parser->get());
                     });
  }

  std::chrono::milliseconds longest_wait() const {
    return std::chrono::milliseconds(int(1000 * settings_.longest_wait));
  }

  bool is_ours(const Request& request) const {
    const auto names = [&](beast::string_view value) {
      return std::ranges::find(hosts_, std::string(value)) != hosts_.end();
    };
    if (request.count(http::field::host) != 1 || !names(request[http::field::host])) return false;
    const std::string origin(request[http::field::origin]);
    constexpr std::string_view before = "http://";
    return origin.empty() || (origin.starts_with(before) && names(origin.substr(before.size())));
  }

  void reply(Place it, const Request& request) {
    const std::string target(request.target());
    if (!is_ours(request))
      send(it, answer(http::status::forbidden, "text/plain", "this page is for 127.0.0.1 only\n"));
    else if (request.method() != http::verb::get)
      send(it, answer(http::status::method_not_allowed, "text/plain", "only GET\n"));
    else if (target == "/")
      send(it,
           answer(http::status::ok, "text/html", html_page(page_.title, page_.body, "/live.js")));
    else if (target == "/live.js")
      send(it, answer(http::status::ok, "text/javascript", live_script));
    else if (target == "/events")
      listen(it);
    else
      send(it, answer(http::status::not_found, "text/plain", "nothing here\n"));
  }

  void send(Place it, Response response) {
    it->response = std::make_unique<Response>(std::move(response));
    it->stream.expires_after(longest_wait());
    http::async_write(it->stream, *it->response, [this, it](beast::error_code, std::size_t) {
      beast::error_code ignored;
      it->stream.socket().shutdown(tcp::socket::shutdown_send, ignored);
      connections_.erase(it);
    });
  }

  void listen(Place it) {
    it->listens = true;
    it->seen = event_of(page_);
    write(it, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n" + guards_text() +
                  "\r\nretry: 1000\n\n" + it->seen);
  }

  /// A listener who is slow gets the newest state when the last one has arrived.
  void write(Place it, std::string text) {
    it->sending = std::move(text);
    it->stream.expires_after(longest_wait());
    asio::async_write(it->stream, asio::buffer(it->sending),
                      [this, it](beast::error_code fault, std::size_t) {
                        if (fault) return connections_.erase(it), void();
                        it->stream.expires_never();
                        it->sending.clear();
                      });
  }

  void look_again() {
    look_timer_.expires_after(std::chrono::milliseconds(int(1000 * settings_.seconds)));
    look_timer_.async_wait([this](beast::error_code fault) {
      if (fault) return;
      if (!connections_.empty()) page_ = look_();
      const std::string event = event_of(page_);
      for (Place it = connections_.begin(); it != connections_.end(); ++it)
        if (it->listens && it->sending.empty()) {
          // A comment finds out who has left.
          write(it, it->seen == event ? ":\n\n" : event);
          it->seen = event;
        }
      look_again();
    });
  }

  void watch_for_stop(const std::function<bool()>& stops) {
    stop_timer_.expires_after(std::chrono::milliseconds(100));
    stop_timer_.async_wait([this, stops](beast::error_code) {
      if (stops()) return context_.stop();
      watch_for_stop(stops);
    });
  }

  Settings settings_;
  asio::io_context context_{1};
  tcp::acceptor acceptor_;
  asio::steady_timer accept_timer_, look_timer_, stop_timer_;
  std::vector<std::string> hosts_;
  std::list<Connection> connections_;
  std::function<LivePage()> look_;
  LivePage page_;
};

PageServer::PageServer(const Settings& settings) : server_(std::make_unique<Server>(settings)) {}
PageServer::~PageServer() = default;
std::uint16_t PageServer::port() const { return server_->port(); }
void PageServer::run(const std::function<LivePage()>& look, const std::function<bool()>& stops) {
  server_->run(look, stops);
}

}  // namespace weft::experiments
