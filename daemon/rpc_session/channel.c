/*
 * Happy path: the size of a packet is read, then its head or all of it; its answer is
 * written. The page says which of these the session does. Failures: a client that has
 * gone or stalls, and a packet over the limit, end the session.
 */
#include "daemon/rpc_session/channel.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "daemon/rpc_page.h"

#define HEAD_BYTES 512u /* more than all fields of a COPY_TO before its data */

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* One read takes size and packet of most questions. SO_RCVTIMEO limits each wait within
 * a packet, but not the wait for the packet. */
static msd_err read_ahead(struct msd_rpc_channel *c)
{
	ssize_t n;

	do {
		n = read(c->fd, c->ahead, sizeof(c->ahead));
	} while (n < 0 && (errno == EINTR || errno == EAGAIN));
	c->ahead_at = 0;
	c->ahead_end = n > 0 ? (size_t)n : 0;
	return n > 0 ? MSD_OK : MSD_IO;
}

static msd_err read_all(struct msd_rpc_channel *c, void *to, uint64_t n)
{
	const size_t first = smaller(n, c->ahead_end - c->ahead_at);
	uint8_t *at = to;

	if (first > 0)
		memcpy(at, c->ahead + c->ahead_at, first);
	c->ahead_at += first;
	at += first;
	n -= first;
	while (n > 0) {
		const ssize_t got = read(c->fd, at, n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return MSD_IO;
		at += got;
		n -= (uint64_t)got;
	}
	return MSD_OK;
}

static msd_err read_more(struct msd_rpc_channel *c, uint64_t n)
{
	if (!msd_buf_reserve(&c->in, n))
		return MSD_NOMEM;
	const msd_err err = read_all(c, c->in.p + c->in.n, n);

	if (err != MSD_OK)
		return err;
	c->in.n += n;
	c->left -= n;
	return MSD_OK;
}

static msd_err read_size(struct msd_rpc_channel *c, uint64_t *ret)
{
	uint8_t size[MSD_RPC_SIZE_BYTES];
	msd_err err = MSD_OK;

	*ret = 0;
	while (err == MSD_OK && *ret == 0) { /* TVM's peers skip empty packets */
		if (c->ahead_at == c->ahead_end)
			err = read_ahead(c);
		if (err == MSD_OK)
			err = read_all(c, size, sizeof(size));
		if (err == MSD_OK)
			*ret = msd_le64(size);
	}
	if (err == MSD_OK) {
		c->page->n_packets++;
		c->page->in_bytes += sizeof(size) + *ret;
		msd_rpc_page_set(c->page, MSD_RPC_PAGE_RUNNING);
	}
	return err;
}

msd_err msd_rpc_channel_next(struct msd_rpc_channel *c, struct msd_rpc_packet *ret,
			     struct msd_diag *d)
{
	uint64_t total;
	msd_err err = read_size(c, &total);

	if (err != MSD_OK)
		return err;
	if (total > c->max_bytes) {
		return msd_diag_set(d, MSD_TOO_LARGE,
				    "a packet of %llu bytes is over --max-payload %llu",
				    (unsigned long long)total,
				    (unsigned long long)c->max_bytes);
	}
	c->in.n = 0;
	c->left = total;
	err = read_more(c, smaller(total, HEAD_BYTES));
	if (err == MSD_OK &&
	    (c->in.n < 4 || msd_le32(c->in.p) != (uint32_t)MSD_RPC_COPY_TO))
		err = read_more(c, c->left);
	if (err != MSD_OK)
		return err;
	return msd_rpc_packet_read((struct msd_span){c->in.p, c->in.n}, total, ret, d);
}

msd_err msd_rpc_channel_take(struct msd_rpc_channel *c, const struct msd_rpc_packet *p,
			     void *to, uint64_t n)
{
	const uint64_t first = smaller(n, p->data.n);

	if (first > 0)
		memcpy(to, p->data.p, first);
	if (n - first > c->left)
		return MSD_IO;
	c->left -= n - first;
	return read_all(c, (uint8_t *)to + first, n - first);
}

msd_err msd_rpc_channel_skip(struct msd_rpc_channel *c)
{
	uint8_t dropped[4096];
	msd_err err = MSD_OK;

	while (err == MSD_OK && c->left > 0) {
		const uint64_t n = smaller(c->left, sizeof(dropped));

		err = read_all(c, dropped, n);
		c->left -= n;
	}
	return err;
}

msd_err msd_rpc_channel_write(struct msd_rpc_channel *c, const struct msd_buf *head,
			      const void *data, uint64_t n)
{
	struct iovec v[2] = {{head->p, head->n}, {(void *)(uintptr_t)data, n}};
	unsigned at = 0;

	c->page->answer_bytes = head->n + n;
	msd_rpc_page_set(c->page, MSD_RPC_PAGE_WRITING);
	while (at < 2) {
		const ssize_t sent = writev(c->fd, v + at, (int)(2 - at));
		size_t left = sent > 0 ? (size_t)sent : 0;

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0)
			return MSD_IO;
		while (at < 2 && left >= v[at].iov_len) {
			left -= v[at].iov_len;
			at++;
		}
		if (at < 2) {
			v[at].iov_base = (char *)v[at].iov_base + left;
			v[at].iov_len -= left;
		}
	}
	c->page->out_bytes += head->n + n;
	msd_rpc_page_set(c->page, MSD_RPC_PAGE_IDLE);
	return MSD_OK;
}
