/* A library whose opening takes as long as a test wants: it reads the FIFO that the
 * environment variable GATE names to its end. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "ffi.h"

FUNCTION(ok)
{
	return 0;
}

__attribute__((constructor)) static void on_open(void)
{
	const char *path = getenv(GATE);
	const int fd = path != NULL ? open(path, O_RDONLY) : -1;
	char bytes[64];

	if (fd < 0)
		return;
	while (read(fd, bytes, sizeof(bytes)) > 0)
		continue;
	close(fd);
}
