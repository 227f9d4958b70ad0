#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "core/ranks/ranks.h"

namespace weft {

/// Ranks that are threads of one process and leave each other copies of their messages.
class RanksInThreads {
 public:
  /// Calls body(ranks) as each of `count` ranks at once. What one throws is thrown on when all have
  /// ended; the others' waits then end with an error.
  static void run(core::Index count, const std::function<void(core::Ranks&)>& body) {
    Post post;
    std::vector<std::thread> threads;
    for (core::Index rank = 0; rank < count; ++rank)
      threads.emplace_back([&, rank] {
        Member member(post, rank, count);
        try {
          body(member);
        } catch (...) {
          const std::lock_guard lock(post.mutex);
          if (!post.failure) post.failure = std::current_exception();
          post.changed.notify_all();
        }
      });
    for (std::thread& thread : threads) thread.join();
    if (post.failure) std::rethrow_exception(post.failure);
  }

 private:
  struct Post {
    std::mutex mutex;
    std::condition_variable changed;
    /// Of (from, to, channel), the oldest first.
    std::map<std::tuple<core::Index, core::Index, int>, std::deque<std::vector<std::byte>>> boxes;
    std::exception_ptr failure;
  };

  struct Receiving final : core::Transfer {
    Receiving(Post& all, std::vector<core::Incoming> messages, core::Index own, int of)
        : post(all), in(std::move(messages)), to(own), channel(of) {}

    bool done() const override { return in.empty(); }
    void wait() override {
      std::unique_lock lock(post.mutex);
      for (const core::Incoming& message : in) {
        auto& box = post.boxes[{message.from, to, channel}];
        post.changed.wait(lock, [&] { return !box.empty() || post.failure; });
        if (box.empty()) throw std::runtime_error("another rank has failed");
        if (box.front().size() != message.bytes.size())
          throw std::logic_error("a message has another size than was expected");
        std::copy(box.front().begin(), box.front().end(), message.bytes.begin());
        box.pop_front();
      }
      in.clear();
    }

    Post& post;
    std::vector<core::Incoming> in;
    core::Index to;
    int channel;
  };

  class Member final : public core::Ranks {
   public:
    Member(Post& post, core::Index rank, core::Index count)
        : post_(post), rank_(rank), count_(count) {}
    core::Index rank() const override { return rank_; }
    core::Index count() const override { return count_; }
    void end_all(int code) override {
      throw std::runtime_error("rank aborted with " + std::to_string(code));
    }

   protected:
    std::unique_ptr<core::Transfer> start(std::vector<core::Outgoing> out,
                                          std::vector<core::Incoming> in, int channel) override {
      const std::lock_guard lock(post_.mutex);
      for (const core::Outgoing& message : out)
        post_.boxes[{rank_, message.to, channel}].emplace_back(message.bytes.begin(),
                                                               message.bytes.end());
      post_.changed.notify_all();
      return std::make_unique<Receiving>(post_, std::move(in), rank_, channel);
    }

   private:
    Post& post_;
    core::Index rank_, count_;
  };
};

}  // namespace weft
