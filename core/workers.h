#pragma once

#include "core/real.h"

namespace weft::core {

/// Gives the threads of this process another number, at least 1.
void set_workers(int count);
int workers();

/// The processors that this process may use; in a Slurm task those given to it.
int own_processors();

/// Work in pieces that do not depend on each other.
class Pieces {
 public:
  virtual void run(Index piece) const = 0;

 protected:
  ~Pieces() = default;
};

/// Runs the pieces 0 .. count - 1 on all workers and waits for them.
void run_pieces(Index count, const Pieces& pieces);

}  // namespace weft::core
