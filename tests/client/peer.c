#include "tests/client/peer.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proto/body.h"
#include "proto/frame.h"
#include "proto/value.h"

struct peer peer_open(void)
{
	struct peer p;
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0 ||
	    modser_open_fd(fds[0], &p.client) != MODSER_OK)
		abort();
	p.fd = fds[1];
	return p;
}

void peer_close(struct peer *p)
{
	modser_close(p->client);
	if (p->fd >= 0)
		(void)close(p->fd);
}

void peer_begin(struct msd_buf *out, uint64_t id)
{
	msd_body_begin_response(out, id, false);
	msd_pack_nil(out);
}

void peer_frame(struct msd_buf *ret, const struct msd_buf *body, const void *payload,
		uint64_t payload_bytes)
{
	uint8_t header[MSD_FRAME_HEADER_BYTES];

	msd_frame_write((struct msd_frame){(uint32_t)body->n, payload_bytes}, header);
	msd_buf_put(ret, header, sizeof(header));
	msd_buf_put(ret, body->p, body->n);
	msd_buf_put(ret, payload, (size_t)payload_bytes);
	if (ret->bad)
		abort();
}

void peer_write(const struct peer *p, const void *bytes, size_t n)
{
	const uint8_t *at = bytes;

	while (n > 0) {
		ssize_t sent = send(p->fd, at, n, MSG_NOSIGNAL);

		if (sent < 0)
			abort();
		at += sent;
		n -= (size_t)sent;
	}
}

static void write_frame(const struct peer *p, struct msd_buf *body, const void *payload,
			uint64_t payload_bytes)
{
	struct msd_buf frame = {0};

	peer_frame(&frame, body, payload, payload_bytes);
	peer_write(p, frame.p, frame.n);
	msd_buf_finish(&frame);
	msd_buf_finish(body);
}

void peer_answer(const struct peer *p, uint64_t id, int64_t v)
{
	struct msd_buf body = {0};

	peer_begin(&body, id);
	msd_pack_int(&body, v);
	write_frame(p, &body, NULL, 0);
}

void peer_answer_timed(const struct peer *p, uint64_t id, int64_t v, uint64_t exec_ns)
{
	struct msd_buf body = {0};

	msd_body_begin_result(&body, id, true);
	msd_pack_int(&body, v);
	msd_body_put_timed(&body, exec_ns);
	write_frame(p, &body, NULL, 0);
}

void peer_refuse(const struct peer *p, uint64_t id, msd_err err, const char *text)
{
	struct msd_buf body = {0};

	msd_body_begin_response(&body, id, false);
	msd_pack_error(&body, err, text);
	msd_pack_nil(&body);
	write_frame(p, &body, NULL, 0);
}

void peer_answer_floats(const struct peer *p, uint64_t id, const float *data, int64_t n)
{
	struct msd_wire_tensor t = {.where = MSD_AT_INLINE,
				    .dtype = {MSD_DT_FLOAT, 32, 1},
				    .bytes = (uint64_t)n * sizeof(*data),
				    .ndim = 1,
				    .shape = {n}};
	struct msd_buf body = {0};

	peer_begin(&body, id);
	msd_pack_array(&body, 2);
	msd_pack_array(&body, 1);
	msd_pack_tensor(&body, &t);
	msd_pack_nil(&body);
	write_frame(p, &body, data, t.bytes);
}

static void read_all(const struct peer *p, struct msd_buf *out, uint64_t n)
{
	if (!msd_buf_reserve(out, (size_t)n + 1))
		abort();
	while (n > 0) {
		ssize_t got = recv(p->fd, out->p + out->n, (size_t)n, 0);

		if (got <= 0)
			abort();
		out->n += (size_t)got;
		n -= (uint64_t)got;
	}
}

void peer_read(const struct peer *p, struct msd_buf *body, struct msd_buf *payload)
{
	struct msd_buf header = {0};
	struct msd_frame f;

	read_all(p, &header, MSD_FRAME_HEADER_BYTES);
	if (msd_frame_read(header.p, MSD_MAX_BODY_BYTES, MSD_MAX_PAYLOAD_BYTES, &f,
			   NULL) != MSD_OK)
		abort();
	msd_buf_finish(&header);
	read_all(p, body, f.body_bytes);
	read_all(p, payload, f.payload_bytes);
}
