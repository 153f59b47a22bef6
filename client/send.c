#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "client/client.h"
#include "client/tls.h"

#define GATHER 64 /* pieces of one sendmsg() */

/* The first pieces of the queue that are not sent. */
static size_t gather(const modser_client *c, struct iovec iov[GATHER])
{
	size_t n = 0;

	for (const struct msd_ticket *t = c->queue; t != NULL; t = t->next) {
		for (size_t i = t->at_iov; i < t->n_iov; i++) {
			if (n == GATHER)
				return n;
			iov[n++] = t->iov[i];
		}
	}
	return n;
}

/* @n bytes were sent: move on in the queue. */
static void advance(modser_client *c, size_t n)
{
	while (c->queue != NULL) {
		struct msd_ticket *t = c->queue;

		t->begun = t->begun || n > 0;
		while (t->at_iov < t->n_iov && n >= t->iov[t->at_iov].iov_len)
			n -= t->iov[t->at_iov++].iov_len;
		if (t->at_iov < t->n_iov) {
			struct iovec *rest = &t->iov[t->at_iov];

			rest->iov_base = (uint8_t *)rest->iov_base + n;
			rest->iov_len -= n;
			return;
		}
		c->queue = t->next;
		t->next = NULL;
		if (c->queue == NULL)
			c->queue_tail = NULL;
		if (!t->due) /* answered before its last byte left */
			msd_client_end(c, t);
	}
}

msd_err msd_client_broken(modser_client *c, const char *doing)
{
	const int error = errno;

	if (c->tls == NULL || error != EPROTO) {
		return msd_diag_set(&c->why, MSD_IO, "%s: %s", doing, strerror(error));
	}
	return msd_diag_set(&c->why,
			    msd_client_tls_is_refused(c->tls) ? MSD_REFUSED : MSD_IO,
			    "%s: %s", doing, msd_client_tls_why(c->tls));
}

msd_err msd_client_send(modser_client *c)
{
	while (c->queue != NULL) {
		struct iovec iov[GATHER];
		struct msghdr m = {.msg_iov = iov, .msg_iovlen = gather(c, iov)};
		ssize_t n = c->tls != NULL
				    ? msd_client_tls_write(c->tls, iov, m.msg_iovlen)
				    : sendmsg(c->fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return MSD_OK;
		if (n < 0)
			return msd_client_broken(c, "send");
		advance(c, (size_t)n);
	}
	return MSD_OK;
}
