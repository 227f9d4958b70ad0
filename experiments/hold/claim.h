#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "experiments/hold/holder.h"

namespace weft::experiments {

/// A directory claimed by hard links, which every file system of a cluster makes exclusive, also
/// those without locks. The first claim is the file "claim". Who may take over from a holder with
/// the token T links the file "claim-T", of which there can be only one; the holder is the last of
/// this chain. A file is written before it is linked and never changed; its time of change, renewed
/// every minute, is the holder's sign of life.
class Claim {
 public:
  static constexpr const char* file_name = "claim";
  static bool is_claim_file(const std::string& name);

  enum class Outcome { taken, held, without_links };

  /// `own` will hold the directory; when another one does, `other` says who. A holder is taken over
  /// from when its process has ended, seen on its own machine or by the lock; when `own` is a later
  /// life of its job; when Slurm has forgotten its job; or after ten minutes without a sign of
  /// life, by the file server's clock. An Error when the file cannot be written.
  static Outcome take(const std::filesystem::path& directory, const Holder& own,
                      std::optional<Claim>& claim, Holder& other);

  /// The holder as far as files say; nothing when it is known to have ended. Asks no other program.
  /// `lock_is_free`: the lock works here, and nobody has it.
  static std::optional<Holder> find(const std::filesystem::path& directory, bool lock_is_free);

  Claim(Claim&&) noexcept;
  Claim& operator=(Claim&&) = delete;
  /// Gives the directory free, if this process still holds it.
  ~Claim();

  /// The holder of the directory, if it is no longer this claim.
  bool is_lost(std::string& to) const;

 private:
  struct SignOfLife;
  Claim(std::filesystem::path directory, std::string token, int file);

  std::filesystem::path directory_;
  std::string token_;
  std::unique_ptr<SignOfLife> sign_;
};

}  // namespace weft::experiments
