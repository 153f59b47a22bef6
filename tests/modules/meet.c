/* Functions that show which process runs them and wait for each other through FIFOs. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ffi.h"

static int answer(any *ret, int64_t value)
{
	ret->type = T_INT;
	ret->v.i = value;
	return 0;
}

/* The one argument, a path, opened as FLAGS say: for a FIFO that is when the other end
 * has been opened, too. */
static int open_path(const any *args, int32_t n, int flags)
{
	struct {
		object head;
		const char *data;
		size_t size;
	} text;
	char path[512];

	if (n != 1 || args[0].type != T_STR)
		return -1;
	memcpy(&text, args[0].v.p, sizeof(text));
	(void)snprintf(path, sizeof(path), "%.*s", (int)text.size, text.data);
	return open(path, flags);
}

FUNCTION(pid)
{
	return answer(ret, getpid());
}

/* How many calls of it this process has had. */
FUNCTION(count)
{
	static int64_t calls;

	return answer(ret, ++calls);
}

/* take(path): wait for somebody who writes, and until he has closed. The process. */
FUNCTION(take)
{
	char bytes[64];
	int fd = open_path(args, n, O_RDONLY);

	if (fd < 0)
		return fail("ValueError", "take expects the path of a FIFO");
	while (read(fd, bytes, sizeof(bytes)) > 0)
		continue;
	close(fd);
	return answer(ret, getpid());
}

/* give(path): wait for somebody who reads. The process. */
FUNCTION(give)
{
	int fd = open_path(args, n, O_WRONLY);

	if (fd < 0)
		return fail("ValueError", "give expects the path of a FIFO");
	close(fd);
	return answer(ret, getpid());
}

FUNCTION(crash)
{
	abort();
}

#ifdef ONCE
/* Only the first process that opens the library lives. */
__attribute__((constructor)) static void on_open(void)
{
	const char *path = getenv("MSD_TEST_ONCE");

	if (path != NULL && open(path, O_CREAT | O_EXCL | O_WRONLY, 0600) < 0) {
		(void)fprintf(stderr, "somebody was here before\n");
		_exit(9);
	}
}
#endif
