#include "tests/daemon/conn_rig.h"

#include <criterion/criterion.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proto/value.h"
#include "tests/support/pass_fd.h"

/* The connection's clock: a busy machine must not end a turn. */
static uint64_t time_ns = 1;

static uint64_t clock_ns(void)
{
	return time_ns;
}

void pass_time(uint64_t ns)
{
	time_ns += ns;
}

static enum msd_place on_body(struct msd_conn *c, struct msd_in *in)
{
	struct rig *r = c->user;

	in->payload = r->answer == MSD_PLACE_HERE ? r->place : NULL;
	return r->answer;
}

static void on_frame(struct msd_conn *c, struct msd_in *in)
{
	struct rig *r = c->user;

	time_ns += r->frame_ns;
	r->n_frames++;
	r->last_id = in->body.id;
	r->last_payload = in->payload_bytes;
	if (c->limits.takes_fds && (r->fd_id == 0 || r->fd_id == in->body.id))
		r->took_fd = msd_conn_adopt_fd(c);
}

static void on_closed(struct msd_conn *c, msd_err err, const char *why)
{
	struct rig *r = c->user;

	r->n_closed++;
	r->closed_with = err;
	(void)strncpy(r->why, why, sizeof(r->why) - 1);
}

static struct msd_out *farewell(struct msd_conn *c, msd_err err, const char *why)
{
	struct msd_out *o = msd_out_new();

	(void)c;
	(void)err;
	msd_body_begin_notification(&o->body, "session.close");
	msd_pack_cstr(&o->body, why);
	return o;
}

static const struct msd_conn_ops ops = {.on_body = on_body,
					.on_frame = on_frame,
					.on_closed = on_closed,
					.farewell = farewell};

void rig_open(struct rig *r, bool takes_fds)
{
	const struct msd_conn_limits limits = {.max_body_bytes = 4096,
					       .max_payload_bytes = 4096,
					       .max_queued_bytes = 1u << 20,
					       .takes_fds = takes_fds,
					       .takes_turns = true,
					       .gathers = true};
	int ends[2];

	memset(r, 0, sizeof(*r));
	r->took_fd = -1;
	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	r->peer = ends[1];
	(void)uv_loop_init(&r->loop);
	cr_assert_eq(msd_wire_init(&r->wire, &r->loop, NULL), MSD_OK);
	r->wire.clock_ns = r->wire.tasks.clock_ns = clock_ns;
	cr_assert_eq(msd_conn_open(&r->conn, &r->wire,
				   msd_transport_of_socket(ends[0], true), &ops,
				   &limits, r, NULL),
		     MSD_OK);
}

void turn(struct rig *r)
{
	for (int i = 0; i < 4; i++)
		(void)uv_run(&r->loop, UV_RUN_NOWAIT);
}

void rig_close(struct rig *r)
{
	msd_conn_close(&r->conn, MSD_OK, "test over");
	turn(r);
	cr_expect_eq(r->n_closed, 1, "on_closed comes once");
	msd_wire_close(&r->wire);
	(void)uv_run(&r->loop, UV_RUN_DEFAULT);
	cr_expect_eq(uv_loop_close(&r->loop), 0, "no handle is left");
	msd_wire_finish(&r->wire);
	if (r->peer >= 0)
		close(r->peer);
}

size_t ping(uint8_t *out, uint64_t id, size_t payload)
{
	struct msd_out *o = msd_out_new();

	msd_body_begin_request(&o->body, id, "ping", false);
	msd_pack_array(&o->body, 0);
	msd_frame_write((struct msd_frame){(uint32_t)(o->body.n - 16), payload},
			o->body.p);
	size_t n = o->body.n;
	memcpy(out, o->body.p, n);
	memset(out + n, 0xab, payload);
	msd_out_destroy(o);
	return n + payload;
}

void send_with_fd(int to, const void *bytes, size_t n, int fd)
{
	struct iovec piece = {(void *)(uintptr_t)bytes, n};

	cr_assert_eq(pass_fd(to, &piece, 1, fd, 0), (ssize_t)n);
}
