#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "core/error.h"
#include "experiments/watch/server.h"
#include "experiments/watch/watched.h"
#include "tests/experiments/program.h"
#include "tests/experiments/sweep/sweep_scratch.h"

namespace weft::experiments {
namespace {

namespace fs = std::filesystem;

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
  ServedPage() : server_({.port = 0, .seconds = 0.05, .connections = 4}) {
    host_ = "127.0.0.1:" + std::to_string(server_.port());
    thread_ = std::thread([this] {
      server_.run(
          [this] {
            return LivePage{"t<", "<p>" + std::to_string(state_.load()) + "</p>"};
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

  PageServer server_;
  std::string host_;
  std::atomic<int> state_{1};
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
  }
  EXPECT_TRUE(ask("POST /", host_).starts_with("HTTP/1.1 405"));
  EXPECT_TRUE(ask("GET /../etc/passwd", host_).starts_with("HTTP/1.1 404"));
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
  std::string page;  // those who left are noticed at the next events
  for (int i = 0; i < 100 && !page.starts_with("HTTP/1.1 200"); ++i) {
    usleep(50'000);
    page = ask("GET /", host_);
  }
  EXPECT_TRUE(page.starts_with("HTTP/1.1 200"));
  EXPECT_THROW(PageServer({.port = server_.port()}), core::Error);
}

TEST(Watched, finds_what_appears_later_and_what_comes_back) {
  const Program program("watched");
  program.write("c.toml", sweep_base);
  Watched watched(program.directory() / "r");
  EXPECT_NE(watched_body(watched.look()).find("Nothing is there yet"), std::string::npos);
  ASSERT_EQ(program.run({"train", "c.toml", "--run", "r"}).code, 0);
  WatchedState state = watched.look();
  ASSERT_EQ(state.runs.size(), 1u);
  EXPECT_EQ(state.runs[0].state, "finished");
  fs::rename(program.directory() / "r", program.directory() / "gone");
  EXPECT_TRUE(watched.look().runs.empty());
  fs::rename(program.directory() / "gone", program.directory() / "r");
  EXPECT_EQ(watched.look().runs.size(), 1u);
  // A killed one says "running" in its file.
  program.write("r/status.json", R"({"program":"weft","format":1,"state":"running","step":4})");
  EXPECT_EQ(watched.look().runs[0].state, "killed");
  program.write("r/metrics.jsonl", "{\"step\":1,\"los");
  EXPECT_EQ(watched.look().runs.size(), 1u);
}

TEST(Watched, has_every_trial_of_a_sweep) {
  const Program program("watched_sweep");
  program.write("base.toml", sweep_base);
  program.write("s.toml",
                "base = \"base.toml\"\n[grid]\nmodel.attention = [\"dense\", \"local\"]\n");
  ASSERT_EQ(program.run({"sweep", "s.toml"}).code, 0);
  Watched watched(program.directory() / "sweeps/s");
  const WatchedState state = watched.look();
  ASSERT_EQ(state.trials.size(), 2u);
  EXPECT_EQ(state.trials[0].state, "done");
  EXPECT_EQ(state.trials[0].steps, 12);
  const std::string body = watched_body(state);
  EXPECT_NE(body.find("2 trials: 2 done"), std::string::npos) << body.substr(0, 400);
  EXPECT_NE(body.find("class=\"mark\""), std::string::npos);
  EXPECT_EQ(watched_lines(state).at(0), "s  2 trials: 2 done");
  const Outcome lines = program.run({"watch", "sweeps/s", "--tui"});
  EXPECT_EQ(lines.code, 0) << lines.err;
  EXPECT_EQ(lines.out, "s  2 trials: 2 done\n");
}

TEST(Watched, draws_a_curve_in_one_line) {
  EXPECT_EQ(sparkline({0, 1, 2, 3, 4, 5, 6, 7}, 8), "▁▂▃▄▅▆▇█");
  EXPECT_EQ(sparkline({7, 7, 0, 0}, 2), "█▁");
  EXPECT_EQ(sparkline({}, 4), "");
}

TEST(WatchProgram, ends_cleanly_at_a_signal) {
  const Program program("watch_program");
  const pid_t child = program.start({"watch", "later", "--port", "0"});
  std::string out;
  for (int i = 0; i < 400 && out.find("http://127.0.0.1:") == std::string::npos; ++i) {
    usleep(25'000);
    out = read_text(program.directory() / "out.txt");
  }
  const std::size_t at = out.find("127.0.0.1:");
  ASSERT_NE(at, std::string::npos) << out;
  const int port = std::stoi(out.substr(at + 10));
  {
    Client client{std::uint16_t(port)};
    client.send("GET / HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port) + "\r\n\r\n");
    EXPECT_NE(client.read().find("Nothing is there yet"), std::string::npos);
  }
  ::kill(child, SIGINT);
  EXPECT_EQ(program.wait(child).code, 0);
}

}  // namespace
}  // namespace weft::experiments
