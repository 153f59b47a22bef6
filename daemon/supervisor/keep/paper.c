#include "daemon/supervisor/keep/paper.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "proto/errno_text.h"

static msd_err fault(struct msd_diag *d)
{
	char text[MSD_ERRNO_TEXT_BYTES];

	return msd_diag_set(d, MSD_IO, "memory for what is kept with a module: %s",
			    msd_errno_text(errno, text));
}

msd_err msd_paper_write(struct msd_span text, struct msd_paper *ret, struct msd_diag *d)
{
	msd_err err = MSD_OK;

	*ret = (struct msd_paper){.fd = -1};
	if (text.n == 0)
		return MSD_OK;
	const int fd = memfd_create("modserd-paper", MFD_CLOEXEC);
	if (fd < 0)
		return fault(d);
	if (write(fd, text.p, text.n) != (ssize_t)text.n) {
		err = fault(d);
		(void)close(fd);
	} else {
		*ret = (struct msd_paper){fd, text.n};
	}
	return err;
}

void msd_paper_close(struct msd_paper *paper)
{
	if (paper->bytes > 0)
		(void)close(paper->fd);
	*paper = (struct msd_paper){.fd = -1};
}
