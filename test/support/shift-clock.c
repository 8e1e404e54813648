/*
 * Shifts the wall clock of one process, for tests of Redis. Loaded with LD_PRELOAD. The file
 * SHIFT_FILE holds the shift in milliseconds as a 64-bit integer, and may change at any time. The
 * monotonic clock is not shifted, as when an operator or NTP sets a clock.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile int64_t *shift_ms;

__attribute__((constructor)) static void open_shift(void) {
  const char *path = getenv("SHIFT_FILE");
  int fd = path ? open(path, O_RDONLY) : -1;
  void *at = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) {
    _exit(70);
  }
  shift_ms = at;
}

int clock_gettime(clockid_t id, struct timespec *out) {
  int result = syscall(SYS_clock_gettime, id, out);
  if (result == 0 && shift_ms && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) {
    int64_t ns = out->tv_nsec + (*shift_ms % 1000) * 1000000;
    out->tv_sec += *shift_ms / 1000 + (ns < 0 ? -1 : ns >= 1000000000 ? 1 : 0);
    out->tv_nsec = ns < 0 ? ns + 1000000000 : ns % 1000000000;
  }
  return result;
}

int gettimeofday(struct timeval *restrict out, void *restrict zone) {
  struct timespec now;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &now);
  out->tv_sec = now.tv_sec;
  out->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *out) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (out) {
    *out = now.tv_sec;
  }
  return now.tv_sec;
}
