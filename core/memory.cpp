#include "core/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <mutex>
#include <new>
#include <unordered_map>
#include <vector>

#include "core/error.h"
#include "core/out_of_memory.h"
#include "core/scope.h"

namespace weft::core {
namespace {

constexpr Index alignment = 64;
constexpr Index huge_page = Index(2) << 20;
constexpr Index largest_block = Index(1) << 48;

/// Rounds up so that few distinct block sizes exist: eight to each power of two.
Index block_bytes(Index bytes) {
  bytes = std::max(bytes, alignment);
  const Index step = std::max(alignment, Index(std::bit_floor(std::uint64_t(bytes))) / 8);
  return (bytes + step - 1) / step * step;
}

struct ScopeUse {
  Index live = 0, peak = 0;
};

class Pool {
 public:
  void* take(Index bytes, ScopeUse*& owner) {
    const std::lock_guard lock(mutex_);
    auto& kept = kept_[bytes];
    if (kept.empty()) kept.push_back(fresh(bytes));
    void* block = kept.back();
    owner = &scopes_[Scope::path()];
    kept.pop_back();
    owner->live += bytes;
    owner->peak = std::max(owner->peak, owner->live);
    use_.live += bytes;
    use_.peak = std::max(use_.peak, use_.live);
    use_.largest = std::max(use_.largest, bytes);
    return block;
  }

  void give(void* block, Index bytes, ScopeUse* owner) {
    const std::lock_guard lock(mutex_);
    owner->live -= bytes;
    use_.live -= bytes;
    kept_[bytes].push_back(block);
  }

  MemoryUse use() {
    const std::lock_guard lock(mutex_);
    return use_;
  }

  void reset_peak() {
    const std::lock_guard lock(mutex_);
    use_.peak = use_.live;
    use_.largest = use_.fresh = 0;
    for (auto& [path, scope] : scopes_) scope.peak = scope.live;
  }

  std::map<std::string, Index> peaks() {
    const std::lock_guard lock(mutex_);
    std::map<std::string, Index> result;
    for (const auto& [path, scope] : scopes_)
      if (scope.peak > 0) result[path] = scope.peak;
    return result;
  }

  void trim() {
    const std::lock_guard lock(mutex_);
    for (auto& [bytes, blocks] : kept_) {
      for (void* block : blocks) std::free(block);
      use_.held -= bytes * Index(blocks.size());
      blocks.clear();
    }
  }

 private:
  [[noreturn]] void fail(Index bytes) const {
    const std::string scope = Scope::path();
    const auto mib = [](Index n) { return double(n) / double(1 << 20); };
    throw OutOfMemory(
        message_of("out of memory: ", mib(bytes), " MiB", scope.empty() ? "" : " for ", scope,
                   " did not fit beside the ", mib(use_.held), " MiB in use"),
        "Lower train.batch or data.length, set train.recompute=true or model.reversible=true, or "
        "allow more memory (ulimit -v)");
  }

  void* fresh(Index bytes) {
    const bool large = bytes >= 2 * huge_page;
    const Index edge = large ? huge_page : alignment;
    void* block =
        std::aligned_alloc(std::size_t(edge), std::size_t((bytes + edge - 1) / edge * edge));
    if (!block) fail(bytes);
    if (large) madvise(block, std::size_t(bytes), MADV_HUGEPAGE);
    use_.held += bytes;
    ++use_.fresh;
    return block;
  }

  std::mutex mutex_;
  MemoryUse use_;
  std::unordered_map<Index, std::vector<void*>> kept_;
  std::unordered_map<std::string, ScopeUse> scopes_;
};

/// Never destroyed: tensors in static storage may outlive any static pool.
Pool& pool() {
  static Pool& the_pool = *new Pool;
  return the_pool;
}

}  // namespace

std::shared_ptr<Real> allocate(Index count) {
  Index bytes = 0;
  if (__builtin_mul_overflow(count, Index(sizeof(Real)), &bytes) || bytes > largest_block)
    throw OutOfMemory(
        message_of("out of memory: ", count, " numbers are more than any machine holds"),
        "Lower the settings that multiply to this size");
  bytes = block_bytes(bytes);
  ScopeUse* owner = nullptr;
  void* block = pool().take(bytes, owner);
  return {static_cast<Real*>(block), [bytes, owner](Real* p) { pool().give(p, bytes, owner); }};
}

MemoryUse memory_use() { return pool().use(); }
void reset_memory_peak() { pool().reset_peak(); }
std::map<std::string, Index> peak_bytes_by_scope() { return pool().peaks(); }
void trim_memory() { pool().trim(); }

}  // namespace weft::core
