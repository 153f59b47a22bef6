#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client/client.h"
#include "client/transport/tls.h"

#define GATHER 64 /* buffers of one sendmsg() */

/* Gather the first unsent buffers of the queue. */
static size_t gather(const modser_client *c, struct iovec iov[GATHER])
{
	size_t n = 0;

	for (const struct msd_ticket *t = c->queue; t != NULL; t = t->next) {
		if (t->fd >= 0 &&
		    t != c->queue) /* must travel with the first byte of a message */
			return n;
		for (size_t i = t->at_iov; i < t->n_iov; i++) {
			if (n == GATHER)
				return n;
			iov[n++] = t->iov[i];
		}
	}
	return n;
}

/* @n bytes were sent: advance the queue. */
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
		if (!t->due) /* answered before its last byte was sent */
			msd_client_end(c, t);
	}
}

msd_err msd_client_broken(modser_client *c, const char *doing)
{
	const int error = errno;

	if (c->tls == NULL || error != EPROTO) {
		return msd_diag_set(&c->why, MSD_IO, "%s: %s", doing, strerror(error));
	}
	return msd_diag_set(&c->why, msd_client_tls_fault(c->tls), "%s: %s", doing,
			    msd_client_tls_why(c->tls));
}

/* Send unencrypted bytes, with the descriptor of the first ticket. */
static ssize_t send_plain(const modser_client *c, struct iovec *iov, size_t n)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = {0};
	struct msghdr m = {.msg_iov = iov, .msg_iovlen = n};
	struct msd_ticket *first = c->queue;

	if (first->fd >= 0) {
		m.msg_control = control.bytes;
		m.msg_controllen = sizeof(control.bytes);
		struct cmsghdr *h = CMSG_FIRSTHDR(&m);
		h->cmsg_level = SOL_SOCKET;
		h->cmsg_type = SCM_RIGHTS;
		h->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(h), &first->fd, sizeof(int));
	}
	const ssize_t sent = sendmsg(c->fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (sent > 0 && first->fd >= 0) {
		(void)close(first->fd);
		first->fd = -1;
	}
	return sent;
}

/* Requests may be part of a TLS record that waits for the socket. Such requests can
 * no longer leave the queue, because the record would then hold the wrong bytes. */
static void begin_record(const modser_client *c)
{
	size_t left = MSD_CLIENT_TLS_RECORD_BYTES;

	for (struct msd_ticket *t = c->queue; t != NULL && left > 0; t = t->next) {
		t->begun = true;
		for (size_t i = t->at_iov; i < t->n_iov; i++) {
			const size_t n = t->iov[i].iov_len;
			left -= n < left ? n : left;
		}
	}
}

msd_err msd_client_send(modser_client *c)
{
	while (c->queue != NULL) {
		struct iovec iov[GATHER];
		const size_t n_iov = gather(c, iov);
		ssize_t n = c->tls != NULL ? msd_client_tls_write(c->tls, iov, n_iov)
					   : send_plain(c, iov, n_iov);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
			if (c->tls != NULL)
				begin_record(c);
			return MSD_OK;
		}
		if (n < 0 && errno == EPIPE && c->is_direct) {
			msd_client_stop_sending(c);
			return MSD_OK;
		}
		if (n < 0)
			return msd_client_broken(c, "send");
		advance(c, (size_t)n);
	}
	return MSD_OK;
}
