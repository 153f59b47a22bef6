#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/fetch/layer/tar_reader.h"
#include "tests/fuzz/fuzz.h"

/* Read all of the current file; more than its size is a fault of the reader. */
static msd_err read_file(struct msd_tar_reader *t, struct msd_diag *d)
{
	uint8_t buffer[4096];
	uint64_t sum = 0;
	size_t n = 1;
	msd_err err = MSD_OK;

	while (err == MSD_OK && n > 0) {
		err = msd_tar_read(t, buffer, sizeof(buffer), &n, d);
		sum += err == MSD_OK ? n : 0;
	}
	if (sum > t->bytes || (err == MSD_OK && sum != t->bytes))
		abort();
	return err;
}

/* Every second file is skipped. */
static int reads(int fd, size_t n)
{
	struct msd_diag d = {0};
	struct msd_tar_reader *t = malloc(sizeof(*t));
	bool more = true;

	if (t == NULL)
		abort();
	msd_err err = msd_tar_open(t, fd, n, &d);
	for (unsigned i = 0; err == MSD_OK && more; i++) {
		err = msd_tar_next(t, &more, &d);
		if (err != MSD_OK || !more)
			break;
		if (memchr(t->path, '\0', MSD_TAR_PATH) == NULL || t->path[0] == '/')
			abort();
		if (i % 2 == 0)
			err = read_file(t, &d);
	}
	msd_tar_close(t);
	free(t);
	msd_diag_finish(&d);
	return err == MSD_OK;
}

int msd_fuzz_accepts(const uint8_t *data, size_t n)
{
	const int fd = memfd_create("tar", MFD_CLOEXEC);
	int result = 0;

	if (fd < 0 || (n > 0 && write(fd, data, n) != (ssize_t)n))
		abort();
	if (n >= 512 && msd_tar_is((struct msd_span){data, n}))
		result = reads(fd, n);
	(void)close(fd);
	return result;
}
