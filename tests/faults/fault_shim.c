// Makes one system call of a program fail: the n-th call of one kind, counted over the program and
// all processes that it starts. Preloaded (LD_PRELOAD) and steered by the environment:
//   FAULT_CALL     open, write, print, fsync, rename, link, flock, mmap, fork or memory; print is
//                  what stdio writes to standard output when it is flushed, memory a block for
//                  the pool of tensors (aligned_alloc)
//   FAULT_AT       n, from 1 on; 0 only counts, -1: every call fails
//   FAULT_ERROR    the errno, or 0: a write that writes half
//   FAULT_COUNTER  a file of eight bytes in which the calls are counted
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static _Atomic long* counter;
static const char* chosen;
static long failing;
static int error_number;

__attribute__((constructor)) static void prepare(void) {
  const char* path = getenv("FAULT_COUNTER");
  chosen = getenv("FAULT_CALL");
  if (!path || !chosen) return;
  failing = atol(getenv("FAULT_AT"));
  error_number = atoi(getenv("FAULT_ERROR"));
  const int file = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);
  void* place = (void*)syscall(SYS_mmap, NULL, 8, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  syscall(SYS_close, file);
  if (place != MAP_FAILED) counter = place;
}

// Whether this call is the one.
static int fails(const char* call) {
  if (!counter || strcmp(call, chosen) != 0) return 0;
  if (atomic_fetch_add(counter, 1) + 1 != failing && failing >= 0) return 0;
  errno = error_number;
  return 1;
}

// Files of the system are no concern of the program's.
static int is_of_system(const char* path) {
  static const char* const folders[] = {"/proc/", "/sys/", "/dev/", "/usr/", "/etc/", "/lib"};
  for (size_t i = 0; i < sizeof folders / sizeof *folders; ++i)
    if (strncmp(path, folders[i], strlen(folders[i])) == 0) return 1;
  return 0;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int open_any(const char* path, int flags, mode_t mode) {
  if (!is_of_system(path) && fails("open")) return -1;
  return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = va_arg(more, mode_t);
  va_end(more);
  return open_any(path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = va_arg(more, mode_t);
  va_end(more);
  return open_any(path, flags | O_LARGEFILE, mode);
}

FILE* fopen(const char* path, const char* mode) {
  if (!is_of_system(path) && fails("open")) return NULL;
  return NEXT(fopen)(path, mode);
}

FILE* fopen64(const char* path, const char* mode) {
  if (!is_of_system(path) && fails("open")) return NULL;
  return NEXT(fopen64)(path, mode);
}

ssize_t write(int file, const void* bytes, size_t count) {
  if (fails("write")) {
    if (error_number) return -1;
    count = (count + 1) / 2;
  }
  return syscall(SYS_write, file, bytes, count);
}

// What stdio writes by itself cannot be seen from here; what it was to write is lost.
int fflush(FILE* stream) {
  if (stream != stdout || !__fpending(stdout) || !fails("print")) return NEXT(fflush)(stream);
  __fpurge(stdout);
  return EOF;
}

ssize_t writev(int file, const struct iovec* parts, int count) {
  if (fails("write")) {
    if (error_number) return -1;
    return syscall(SYS_write, file, parts[0].iov_base, (parts[0].iov_len + 1) / 2);
  }
  return syscall(SYS_writev, file, parts, count);
}

int fsync(int file) { return fails("fsync") ? -1 : (int)syscall(SYS_fsync, file); }
int fdatasync(int file) { return fails("fsync") ? -1 : (int)syscall(SYS_fdatasync, file); }

int rename(const char* from, const char* to) {
  return fails("rename") ? -1 : (int)syscall(SYS_rename, from, to);
}

int link(const char* from, const char* to) {
  return fails("link") ? -1 : (int)syscall(SYS_link, from, to);
}

int flock(int file, int operation) {
  return fails("flock") ? -1 : (int)syscall(SYS_flock, file, operation);
}

void* mmap(void* at, size_t size, int protection, int flags, int file, off_t offset) {
  if (fails("mmap")) return MAP_FAILED;
  return (void*)syscall(SYS_mmap, at, size, protection, flags, file, offset);
}

void* aligned_alloc(size_t edge, size_t size) {
  return fails("memory") ? NULL : NEXT(aligned_alloc)(edge, size);
}

pid_t fork(void) { return fails("fork") ? -1 : NEXT(fork)(); }
