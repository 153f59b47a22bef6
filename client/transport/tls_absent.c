/* Build without TLS: every TLS connection fails. */
#include <errno.h>
#include <stdlib.h>

#include "client/transport/tls.h"

msd_err msd_client_tls_open(int fd, const char *host, uint64_t deadline_ns,
			    struct msd_client_tls **ret, struct msd_diag *d)
{
	(void)fd;
	(void)host;
	(void)deadline_ns;
	(void)ret;
	return msd_diag_set(d, MSD_UNSUPPORTED, "this client was built without TLS");
}

ssize_t msd_client_tls_read(struct msd_client_tls *t, const struct iovec *pieces,
			    size_t n, bool may_block)
{
	(void)t;
	(void)pieces;
	(void)n;
	(void)may_block;
	errno = ENOTSUP;
	return -1;
}

ssize_t msd_client_tls_write(struct msd_client_tls *t, const struct iovec *pieces,
			     size_t n)
{
	(void)t;
	(void)pieces;
	(void)n;
	errno = ENOTSUP;
	return -1;
}

const char *msd_client_tls_why(const struct msd_client_tls *t)
{
	(void)t;
	return "";
}

msd_err msd_client_tls_fault(const struct msd_client_tls *t)
{
	(void)t;
	return MSD_IO;
}

void msd_client_tls_close(struct msd_client_tls *t)
{
	(void)t;
}
