#include "tests/support/fail_io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/types.h>
#include <unistd.h>

static long left = -1; /* calls before the one that fails; below 0: none fails */
static bool has_failed;
static enum msd_fail_io_how kind;
static int number;

void msd_fail_io(long k, enum msd_fail_io_how how, int error)
{
	left = k;
	kind = how;
	number = error;
	has_failed = false;
}

bool msd_fail_io_stop(void)
{
	left = -1;
	return has_failed;
}

static bool fails_now(void)
{
	if (left < 0 || left-- > 0)
		return false;
	left = kind == MSD_FAIL_IO_EVER ? 0 : -1;
	has_failed = true;
	errno = number;
	return true;
}

#define FAILING(type, name, parameters, arguments)                                     \
	type __real_##name parameters;                                                 \
	type __wrap_##name parameters;                                                 \
	type __wrap_##name parameters                                                  \
	{                                                                              \
		return fails_now() ? -1 : __real_##name arguments;                     \
	}

FAILING(ssize_t, read, (int fd, void *p, size_t n), (fd, p, n))
FAILING(ssize_t, pread, (int fd, void *p, size_t n, off_t at), (fd, p, n, at))
FAILING(int, fsync, (int fd), (fd))
FAILING(int, renameat, (int a, const char *from, int b, const char *to),
	(a, from, b, to))
FAILING(int, unlinkat, (int dir, const char *name, int flags), (dir, name, flags))
FAILING(int, mkdir, (const char *name, mode_t mode), (name, mode))
FAILING(int, mkdirat, (int dir, const char *name, mode_t mode), (dir, name, mode))
FAILING(int, fchmod, (int fd, mode_t mode), (fd, mode))
FAILING(int, ftruncate, (int fd, off_t n), (fd, n))
FAILING(int, fallocate, (int fd, int mode, off_t at, off_t n), (fd, mode, at, n))

ssize_t __real_write(int fd, const void *p, size_t n);
ssize_t __wrap_write(int fd, const void *p, size_t n);
int __real_openat(int dir, const char *name, int flags, ...);
int __wrap_openat(int dir, const char *name, int flags, ...);
int __real_open(const char *name, int flags, ...);
int __wrap_open(const char *name, int flags, ...);

ssize_t __wrap_write(int fd, const void *p, size_t n)
{
	bool was_dead = left < 0 || has_failed;

	if (!fails_now())
		return __real_write(fd, p, n);
	if (kind == MSD_FAIL_IO_EVER && !was_dead && n > 1) {
		(void)!__real_write(fd, p, n / 2);
		errno = number;
	}
	return -1;
}

static mode_t mode_of(int flags, va_list more)
{
	return (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0;
}

int __wrap_openat(int dir, const char *name, int flags, ...)
{
	va_list more;

	va_start(more, flags);
	mode_t mode = mode_of(flags, more);
	va_end(more);
	return fails_now() ? -1 : __real_openat(dir, name, flags, mode);
}

int __wrap_open(const char *name, int flags, ...)
{
	va_list more;

	va_start(more, flags);
	mode_t mode = mode_of(flags, more);
	va_end(more);
	return fails_now() ? -1 : __real_open(name, flags, mode);
}
