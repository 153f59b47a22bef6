#ifndef MSD_BENCH_NET_H
#define MSD_BENCH_NET_H
/* Common code of the benchmark programs: blocking sockets, the clock, and one exit on
 * failure. They are measuring tools: every failure prints a line and exits. */
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

_Noreturn void bench_die(const char *what); /* with errno's text */
uint64_t bench_now_ns(void);
/** Listen at @address ("unix:PATH", "tcp://HOST:PORT") and print the line `listening`.
 */
int bench_listen(const char *address);
/** Accept one connection; without Nagle's delay on TCP. */
int bench_accept(int listener);
/**
 * Listen at @address and call @serve for each readable or closed connection, from one
 * epoll loop. A peer that leaves ends only its connection.
 */
_Noreturn void bench_loop(const char *address, void (*serve)(int fd));
/**
 * Connect, retrying for up to two seconds. "direct:ADDRESS" opens a direct channel to
 * the worker of the module `trivial` of the daemon at ADDRESS.
 */
int bench_connect(const char *address);
void bench_read_all(int fd, void *to, size_t n);
/** As bench_read_all(), but false if the peer has closed before the first byte. */
_Bool bench_read_or_end(int fd, void *to, size_t n);
void bench_write_all(int fd, const void *from, size_t n);
/** Write both parts, gathered. */
void bench_write_two(int fd, struct iovec parts[static 2]);

#endif
