// The page's server as somebody would use it who means no good.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "core/error.h"
#include "experiments/watch/server.h"
#include "tests/experiments/program.h"

namespace weft::experiments::watch_server_test {
namespace {

/// A connection to a port of this machine.
class Client {
 public:
  explicit Client(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in place{};
    place.sin_family = AF_INET;
    place.sin_port = htons(port);
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval limit{10, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    EXPECT_EQ(::connect(socket_, reinterpret_cast<sockaddr*>(&place), sizeof place), 0);
  }
  Client(const Client&) = delete;
  ~Client() { ::close(socket_); }

  void send(const std::string& text) {
    [[maybe_unused]] const auto sent = ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
  }
  /// Until the text has come, or the connection has ended.
  std::string read(const std::string& until = "") {
    char part[4096];
    while (until.empty() || got_.find(until) == std::string::npos) {
      const ssize_t n = ::recv(socket_, part, sizeof part, 0);
      if (n <= 0) break;
      got_.append(part, std::size_t(n));
    }
    return got_;
  }

 private:
  int socket_;
  std::string got_;
};

/// A server of a page that a test changes.
class ServedPage : public testing::Test {
 protected:
  explicit ServedPage(double longest_wait = 10)
      : server_({.port = 0, .seconds = 0.05, .connections = 4, .longest_wait = longest_wait}) {
    host_ = "127.0.0.1:" + std::to_string(server_.port());
    thread_ = std::thread([this] {
      server_.run(
          [this] {
            return LivePage{"t<", "<p>" + std::to_string(state_.load()) + "</p>" +
                                      std::string(std::size_t(padding_.load()), 'x')};
          },
          [this] { return stops_.load(); });
    });
  }
  ~ServedPage() override {
    stops_ = true;
    thread_.join();
  }

  std::string ask(const std::string& what, const std::string& host, const std::string& more = "") {
    Client client(server_.port());
    client.send(what + " HTTP/1.1\r\nHost: " + host + "\r\n" + more + "\r\n");
    return client.read();
  }

  /// Asks again while there is no room: those who left are noticed at the next events.
  std::string ask_until_answered() {
    std::string page;
    for (int i = 0; i < 400 && page.empty(); ++i) {
      usleep(25'000);
      between_tries();
      page = ask("GET /", host_);
    }
    return page;
  }
  virtual void between_tries() {}

  PageServer server_;
  std::string host_;
  std::atomic<int> state_{1}, padding_{0};
  std::atomic<bool> stops_{false};
  std::thread thread_;
};

TEST_F(ServedPage, is_answered_to_its_own_host_alone) {
  const std::string page = ask("GET /", host_);
  EXPECT_TRUE(page.starts_with("HTTP/1.1 200")) << page;
  EXPECT_NE(page.find("<p>1</p>"), std::string::npos);
  EXPECT_NE(page.find("<title>t&lt;</title>"), std::string::npos);
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
  EXPECT_TRUE(ask("GET /", "localhost" + host_.substr(9)).starts_with("HTTP/1.1 200"));
  EXPECT_TRUE(ask("GET /", host_, "Origin: http://" + host_ + "\r\n").starts_with("HTTP/1.1 200"));
  for (const char* const path : {"GET /", "GET /events", "GET /live.js"}) {
    EXPECT_TRUE(ask(path, "evil.example").starts_with("HTTP/1.1 403")) << path;
    EXPECT_TRUE(ask(path, host_ + "0").starts_with("HTTP/1.1 403")) << path;
    EXPECT_TRUE(ask(path, host_, "Origin: http://evil.example\r\n").starts_with("HTTP/1.1 403"));
    EXPECT_TRUE(ask(path, host_, "Origin: null\r\n").starts_with("HTTP/1.1 403"));
    EXPECT_TRUE(ask(path, "evil.example", "Host: " + host_ + "\r\n").starts_with("HTTP/1.1 403"));
    EXPECT_TRUE(ask(path, host_, "Host: evil.example\r\n").starts_with("HTTP/1.1 403"));
    EXPECT_TRUE(ask(path, "user@" + host_).starts_with("HTTP/1.1 403"));
    EXPECT_TRUE(ask(path, "").starts_with("HTTP/1.1 403"));
  }
  EXPECT_TRUE(ask("POST /", host_).starts_with("HTTP/1.1 405"));
}

TEST_F(ServedPage, has_three_places_and_no_path_leads_elsewhere) {
  for (const std::string path :
       {"/../etc/passwd", "/..%2f..%2fetc/passwd", "//etc/passwd", "/live.js/../x", "/./",
        "/index.html", "/?x", "/live.js%00", "*", "http://evil.example/"})
    EXPECT_TRUE(ask("GET " + path, host_).starts_with("HTTP/1.1 404")) << path;
}

TEST_F(ServedPage, forbids_other_pages_to_read_or_embed_any_answer) {
  for (const char* const path : {"/", "/live.js", "/nothing"}) {
    const std::string got = ask(std::string("GET ") + path, host_);
    for (const char* const guard : {"X-Content-Type-Options: nosniff", "frame-ancestors 'none'",
                                    "Cross-Origin-Resource-Policy: same-origin"})
      EXPECT_NE(got.find(guard), std::string::npos) << path << got;
    EXPECT_EQ(got.find("Access-Control-Allow"), std::string::npos);
  }
  Client listener(server_.port());
  listener.send("GET /events HTTP/1.1\r\nHost: " + host_ + "\r\n\r\n");
  const std::string events = listener.read("<p>1</p>");
  EXPECT_NE(events.find("X-Content-Type-Options: nosniff\r\n"), std::string::npos) << events;
  EXPECT_NE(events.find("Cross-Origin-Resource-Policy: same-origin\r\n"), std::string::npos);
}

TEST_F(ServedPage, tells_listeners_what_has_changed) {
  Client client(server_.port());
  client.send("GET /events HTTP/1.1\r\nHost: " + host_ + "\r\n\r\n");
  EXPECT_NE(client.read("<p>1</p>").find("text/event-stream"), std::string::npos);
  state_ = 2;
  EXPECT_NE(client.read("<p>2</p>").find("data: {"), std::string::npos);
}

TEST_F(ServedPage, survives_requests_that_are_too_long_broken_or_too_many) {
  const std::string much(20'000, 'x');
  EXPECT_FALSE(ask("GET /", host_, "X: " + much + "\r\n").starts_with("HTTP/1.1 200"));
  EXPECT_FALSE(ask("GET /" + much, host_).starts_with("HTTP/1.1 200"));
  EXPECT_FALSE(ask("POST /", host_, "Content-Length: 100000\r\n").starts_with("HTTP/1.1 200"));
  {
    std::vector<std::unique_ptr<Client>> waiting;
    for (int i = 0; i < 4; ++i) {
      waiting.push_back(std::make_unique<Client>(server_.port()));
      waiting.back()->send("GET /events HTTP/1.1\r\nHost: " + host_ + "\r\n\r\n");
      waiting.back()->read("<p>");
    }
    Client one_too_many(server_.port());
    one_too_many.send("GET / HTTP/1.1\r\nHost: " + host_ + "\r\n\r\n");
    EXPECT_EQ(one_too_many.read(), "");
  }
  EXPECT_TRUE(ask_until_answered().starts_with("HTTP/1.1 200"));
  EXPECT_THROW(PageServer({.port = server_.port()}), core::Error);
}

/// It waits for half a second; all of its places are taken by clients who waste them.
class ImpatientPage : public ServedPage {
 protected:
  ImpatientPage() : ServedPage(0.5) {}
  void take_all_places(const std::string& sent) {
    for (int i = 0; i < 4; ++i) {
      wasteful_.push_back(std::make_unique<Client>(server_.port()));
      wasteful_.back()->send(sent);
    }
  }
  void between_tries() override {
    for (const auto& client : wasteful_) client->send(trickle_);
  }

  std::vector<std::unique_ptr<Client>> wasteful_;
  std::string trickle_;
};

TEST_F(ImpatientPage, ends_connections_that_ask_for_nothing) {
  take_all_places("");
  EXPECT_TRUE(ask_until_answered().starts_with("HTTP/1.1 200"));
}

TEST_F(ImpatientPage, ends_requests_that_come_letter_by_letter) {
  take_all_places("GET / HTTP/1.1\r\nX: ");
  trickle_ = "x";
  EXPECT_TRUE(ask_until_answered().starts_with("HTTP/1.1 200"));
}

TEST_F(ImpatientPage, ends_answers_that_nobody_takes) {
  padding_ = 16 << 20;  // more than a socket holds
  take_all_places("GET / HTTP/1.1\r\nHost: " + host_ + "\r\n\r\n");
  EXPECT_TRUE(ask_until_answered().starts_with("HTTP/1.1 200"));
}

TEST_F(ImpatientPage, ends_listeners_who_do_not_listen) {
  padding_ = 16 << 20;
  take_all_places("GET /events HTTP/1.1\r\nHost: " + host_ + "\r\n\r\n");
  EXPECT_TRUE(ask_until_answered().starts_with("HTTP/1.1 200"));
}

/// `weft watch` of a place where nothing is yet, and the port that it chose.
class WatchProgram : public testing::Test {
 protected:
  void start(const std::function<void()>& prepare = {}) {
    child_ = program_.start({"watch", "later", "--port", "0"}, prepare);
    std::string out;
    for (int i = 0; i < 400 && out.find("http://127.0.0.1:") == std::string::npos; ++i) {
      usleep(25'000);
      out = read_text(program_.directory() / "out.txt");
    }
    const std::size_t at = out.find("127.0.0.1:");
    ASSERT_NE(at, std::string::npos) << out;
    port_ = std::uint16_t(std::stoi(out.substr(at + 10)));
  }
  std::string page() const {
    Client client(port_);
    client.send("GET / HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port_) + "\r\n\r\n");
    return client.read();
  }
  /// Of the processor, in hundredths of a second.
  long ticks() const {
    std::ifstream stat("/proc/" + std::to_string(child_) + "/stat");
    std::string word;
    for (int i = 0; i < 13; ++i) stat >> word;
    long user = 0, system = 0;
    stat >> user >> system;
    return user + system;
  }

  const Program program_{"watch_program"};
  pid_t child_ = 0;
  std::uint16_t port_ = 0;
};

TEST_F(WatchProgram, ends_cleanly_at_a_signal) {
  ASSERT_NO_FATAL_FAILURE(start());
  EXPECT_NE(page().find("Nothing is there yet"), std::string::npos);
  ::kill(child_, SIGINT);
  EXPECT_EQ(program_.wait(child_).code, 0);
}

TEST_F(WatchProgram, rests_while_it_may_open_no_more_files_and_goes_on_after) {
  ASSERT_NO_FATAL_FAILURE(start([] {
    const rlimit limit{16, 16};
    setrlimit(RLIMIT_NOFILE, &limit);
  }));
  {
    std::vector<std::unique_ptr<Client>> idle;
    for (int i = 0; i < 16; ++i) idle.push_back(std::make_unique<Client>(port_));
    usleep(300'000);
    const long before = ticks();
    usleep(1'000'000);
    EXPECT_LT(ticks() - before, 30) << "it asks again and again";
  }
  EXPECT_NE(page().find("Nothing is there yet"), std::string::npos);
  ::kill(child_, SIGINT);
  EXPECT_EQ(program_.wait(child_).code, 0);
}

}  // namespace
}  // namespace weft::experiments::watch_server_test
