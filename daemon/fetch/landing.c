#include "daemon/fetch/landing.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "proto/errno_text.h"

static msd_err fault(const char *what, struct msd_diag *d)
{
	const int error = errno;
	char text[MSD_ERRNO_TEXT_BYTES];
	const msd_err err = error == ENOSPC || error == ENOMEM ? MSD_NO_SPACE : MSD_IO;

	return msd_diag_set(d, err, "memory for what is fetched: %s: %s", what,
			    msd_errno_text(error, text));
}

msd_err msd_landing_open(struct msd_landing *l, uint64_t max_bytes, struct msd_diag *d)
{
	const int fd = memfd_create("modserd-fetched", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return fault("memfd_create", d);
	*l = (struct msd_landing){.fd = fd, .max_bytes = max_bytes};
	sha256_init(&l->hash);
	return MSD_OK;
}

msd_err msd_landing_expect(const struct msd_landing *l, uint64_t bytes,
			   struct msd_diag *d)
{
	if (bytes <= l->max_bytes)
		return MSD_OK;
	return msd_diag_set(
		d, MSD_TOO_LARGE, "%llu bytes are over the limit of %llu (max-upload)",
		(unsigned long long)bytes, (unsigned long long)l->max_bytes);
}

msd_err msd_landing_take(struct msd_landing *l, struct msd_span bytes,
			 struct msd_diag *d)
{
	if (bytes.n > l->max_bytes - l->bytes) {
		return msd_diag_set(
			d, MSD_TOO_LARGE,
			"it goes on after %llu bytes, the limit (max-upload)",
			(unsigned long long)l->max_bytes);
	}
	sha256_update(&l->hash, bytes.n, bytes.p);
	while (bytes.n > 0) {
		const ssize_t n = pwrite(l->fd, bytes.p, bytes.n, (off_t)l->bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return fault("write", d);
		bytes.p += n;
		bytes.n -= (size_t)n;
		l->bytes += (uint64_t)n;
	}
	return MSD_OK;
}

msd_err msd_landing_restart(struct msd_landing *l, struct msd_diag *d)
{
	if (ftruncate(l->fd, 0) != 0)
		return fault("ftruncate", d);
	l->bytes = 0;
	sha256_init(&l->hash);
	return MSD_OK;
}

msd_err msd_landing_seal(struct msd_landing *l, struct msd_digest *ret,
			 struct msd_diag *d)
{
	if (fcntl(l->fd, F_ADD_SEALS,
		  F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) != 0)
		return fault("sealing", d);
	sha256_digest(&l->hash, MSD_DIGEST_BYTES, ret->b);
	return MSD_OK;
}

int msd_landing_take_fd(struct msd_landing *l)
{
	const int fd = l->fd;

	l->fd = -1;
	return fd;
}

void msd_landing_close(struct msd_landing *l)
{
	if (l->fd >= 0)
		(void)close(l->fd);
	l->fd = -1;
}
