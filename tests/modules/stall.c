/* For LD_PRELOAD: a file system that does not answer. Who opens the file that
 * STALL_FILE names waits until somebody has opened the FIFO STALL_GATE for writing and
 * closed it again. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int open_file(const char *path, int flags, int mode)
{
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

static void wait_at_gate(const char *path)
{
	const char *file = getenv("STALL_FILE"), *gate = getenv("STALL_GATE");
	char byte;

	if (file == NULL || gate == NULL || strcmp(path, file) != 0)
		return;
	int fd = open_file(gate, O_RDONLY | O_CLOEXEC, 0);
	while (read(fd, &byte, 1) > 0)
		continue;
	close(fd);
}

__attribute__((visibility("default"))) int open(const char *path, int flags, ...)
{
	va_list ap;

	va_start(ap, flags);
	const int mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(ap, int) : 0;
	va_end(ap);
	wait_at_gate(path);
	return open_file(path, flags, mode);
}
