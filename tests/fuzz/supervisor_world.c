#include "tests/fuzz/supervisor_world.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/log.h"
#include "daemon/loop/work.h"
#include "daemon/supervisor/edge/listen/accept.h"
#include "proto/body.h"
#include "proto/frame.h"
#include "proto/value.h"
#include "tests/fuzz/fake_child.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/clock.h"

#define SETTLES 6
#define ARTIFACT_BYTES 8
#define END_STEP_MS 5000

static void set_limits(struct msd_limits *limits)
{
#define SET(field, option, when, value, sentence) limits->field = (value);
	MSD_LIMIT_MAP(SET)
#undef SET
	limits->max_memory = 1 << 20;
	limits->max_payload = 1 << 18;
	limits->max_in_flight = 8;
	limits->max_handles = 4;
	limits->max_modules = 3;
	limits->max_uploads = 2;
	limits->max_segment_bytes = 1 << 15;
	limits->max_segment_memory = 1 << 16;
}

void world_begin(struct world *w)
{
	(void)setenv("MODSERD_LOG", "error", 0);
	MUST(msd_log_init(NULL) == MSD_OK);
	*w = (struct world){.server.worker_path = strdup("/nowhere")};
	set_limits(&w->server.limits);
	MUST(w->server.worker_path != NULL);
	MUST(msd_server_init(&w->server, NULL) == MSD_OK);
	for (unsigned i = 0; i < WORLD_CLIENTS; i++)
		w->clients[i].fd = -1;
	fake_may_start = true;
}

static void push(struct client *c)
{
	ssize_t n;

	while (c->fd >= 0 && c->going.n > 0 &&
	       (n = send(c->fd, c->going.p, c->going.n, MSG_NOSIGNAL | MSG_DONTWAIT)) >
		       0) {
		c->going.n -= (size_t)n;
		memmove(c->going.p, c->going.p + n, c->going.n);
	}
}

/* Handles are kept, to be used. */
static void keep_object(struct client *c, struct msd_span result)
{
	struct msd_cur at = msd_cur_of(result);
	struct msd_wire_value v;

	if (msd_value_read(&at, &v, NULL) != MSD_OK)
		return;
	if (v.kind == MSD_K_TENSOR && result.n <= sizeof(c->tensor)) {
		memcpy(c->tensor, result.p, result.n);
		c->n_tensor = result.n;
	} else if ((v.kind == MSD_K_FUNCTION || v.kind == MSD_K_INSTANCE ||
		    v.kind == MSD_K_UPLOAD) &&
		   result.n <= sizeof(c->object)) {
		memcpy(c->object, result.p, result.n);
		c->n_object = result.n;
	}
}

static void take_answer(struct client *c, const uint8_t *bytes, size_t n)
{
	struct msd_body b;

	MUST(msd_body_read((struct msd_span){bytes, n}, NULL, &b, NULL) == MSD_OK);
	if (c->is_wild)
		return;
	if (b.kind == MSD_NOTIFICATION) { /* a farewell */
		MUST(c->may_be_ended);
		return;
	}
	MUST(b.kind == MSD_RESPONSE);
	MUST(b.id >= 1 && b.id <= c->n_asked);
	MUST(c->answers[b.id] == 0);
	c->answers[b.id]++;
	c->answered = b.id;
	keep_object(c, b.result);
}

/* Who began with text instead of a frame is told so as text, and nothing before. */
static bool is_told_in_http(const struct client *c)
{
	static const char begin[] = "HTTP/1.1 400 ";

	return c->is_wild && c->coming.n >= sizeof(begin) - 1 &&
	       memcmp(c->coming.p, begin, sizeof(begin) - 1) == 0;
}

static void take_answers(struct client *c)
{
	size_t at = 0;

	if (is_told_in_http(c)) {
		c->coming.n = 0;
		return;
	}
	while (c->coming.n - at >= MSD_FRAME_HEADER_BYTES) {
		struct msd_frame f;
		MUST(msd_frame_read(c->coming.p + at, MSD_MAX_REPLY_BODY_BYTES,
				    UINT32_MAX, &f, NULL) == MSD_OK);
		const size_t whole =
			MSD_FRAME_HEADER_BYTES + f.body_bytes + (size_t)f.payload_bytes;
		if (c->coming.n - at < whole)
			break;
		take_answer(c, c->coming.p + at + MSD_FRAME_HEADER_BYTES, f.body_bytes);
		at += whole;
	}
	c->coming.n -= at;
	memmove(c->coming.p, c->coming.p + at, c->coming.n);
}

static void pull(struct client *c)
{
	uint8_t bytes[8192];
	ssize_t n = -1;

	while (c->fd >= 0 && !c->is_deaf &&
	       (n = recv(c->fd, bytes, sizeof(bytes), MSG_DONTWAIT)) > 0) {
		msd_buf_put(&c->coming, bytes, (size_t)n);
		MUST(!c->coming.bad);
	}
	if (c->coming.n > 0)
		take_answers(c);
	if (n == 0) {
		MUST(c->is_wild || c->may_be_ended);
		client_leave(c);
	}
}

void world_settle(struct world *w)
{
	for (int i = 0; i < SETTLES; i++) {
		for (unsigned k = 0; k < WORLD_CLIENTS; k++)
			push(&w->clients[k]);
		(void)uv_run(&w->server.loop, UV_RUN_NOWAIT);
		fakes_settle();
		for (unsigned k = 0; k < WORLD_CLIENTS; k++)
			pull(&w->clients[k]);
	}
}

void client_connect(struct world *w, struct client *c)
{
	int ends[2];

	MUST(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) ==
	     0);
	*c = (struct client){.fd = ends[1]};
	msd_accept_open(&w->server.edge, ends[0],
			msd_principal_of(MSD_ADDRESS_UNIX, false));
}

void client_leave(struct client *c)
{
	if (c->fd >= 0)
		(void)close(c->fd);
	c->fd = -1;
	msd_buf_finish(&c->going);
	msd_buf_finish(&c->coming);
	c->going = c->coming = (struct msd_buf){0};
}

bool client_is_fit(const struct client *c)
{
	return c->fd >= 0 && !c->is_wild && !c->is_deaf && c->n_asked < WORLD_ASKED;
}

uint64_t client_ask(struct client *c, const char *method, uint32_t n,
		    const struct msd_buf *params, const struct msd_buf *options,
		    uint32_t payload)
{
	uint8_t head[MSD_FRAME_HEADER_BYTES];
	struct msd_buf b = {0};

	msd_body_begin_request(&b, ++c->n_asked, method, options->n > 0);
	msd_pack_array(&b, n);
	msd_buf_put(&b, params->p, params->n);
	msd_buf_put(&b, options->p, options->n);
	msd_frame_write((struct msd_frame){(uint32_t)b.n, payload}, head);
	msd_buf_put(&c->going, head, sizeof(head));
	msd_buf_put(&c->going, b.p, b.n);
	for (uint32_t i = 0; i < payload / 8; i++)
		msd_buf_put_u64(&c->going, i);
	MUST(!b.bad && !c->going.bad && payload % 8 == 0);
	msd_buf_finish(&b);
	return c->n_asked;
}

void client_lend(struct client *c, uint32_t bytes, int seals)
{
	const int fd = memfd_create("lent", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = {0};
	struct msd_buf b = {0};

	if (c->going.n > 0) { /* it goes with the frame's first byte */
		(void)close(fd);
		return;
	}
	MUST(fd >= 0 && ftruncate(fd, (off_t)bytes) == 0 &&
	     fcntl(fd, F_ADD_SEALS, seals) == 0);
	msd_pack_uint(&b, bytes);
	(void)client_ask(c, "segment.add", 1, &b, &(struct msd_buf){0}, 0);
	struct iovec frame = {c->going.p, c->going.n};
	struct msghdr m = {.msg_iov = &frame,
			   .msg_iovlen = 1,
			   .msg_control = control.bytes,
			   .msg_controllen = sizeof(control.bytes)};
	struct cmsghdr *h = CMSG_FIRSTHDR(&m);
	h->cmsg_level = SOL_SOCKET;
	h->cmsg_type = SCM_RIGHTS;
	h->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(h), &fd, sizeof(int));
	if (sendmsg(c->fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)c->going.n)
		c->going.n = 0;
	msd_buf_finish(&b);
	(void)close(fd);
}

/* Threads make sources of uploads and close what was passed. True: one still does, or
 * did until now. */
static bool wait_for_thread(struct world *w)
{
	struct pollfd ready = {.fd = uv_backend_fd(&w->server.loop), .events = POLLIN};
	const bool is_busy = msd_work_is_busy();

	if (is_busy)
		(void)poll(&ready, 1, 10);
	world_settle(w);
	return is_busy;
}

/* False: no answer comes for now, there is no room, or the client is gone. */
static bool wait_for(struct world *w, struct client *c, uint64_t id)
{
	world_settle(w);
	while (c->fd >= 0 && c->answers[id] == 0 && wait_for_thread(w))
		continue;
	return c->fd >= 0 && c->answers[id] != 0;
}

static const struct msd_buf nothing;

/* Begin, write and commit: the upload's handle is c->object then. */
static bool upload(struct world *w, struct client *c)
{
	struct msd_buf b = {0};
	const struct msd_wire_tensor t = {.where = MSD_AT_INLINE,
					  .dtype = {.code = 1, .bits = 8, .lanes = 1},
					  .bytes = ARTIFACT_BYTES,
					  .ndim = 1,
					  .shape = {ARTIFACT_BYTES}};

	c->n_object = 0;
	msd_pack_cstr(&b, "begin");
	msd_pack_uint(&b, ARTIFACT_BYTES);
	bool ok = wait_for(w, c, client_ask(c, "module.upload", 2, &b, &nothing, 0)) &&
		  c->n_object > 0;
	b.n = 0;
	msd_pack_cstr(&b, "write");
	msd_buf_put(&b, c->object, c->n_object);
	msd_pack_uint(&b, 0);
	msd_pack_tensor(&b, &t);
	ok = ok &&
	     wait_for(w, c,
		      client_ask(c, "module.upload", 4, &b, &nothing, ARTIFACT_BYTES));
	b.n = 0;
	msd_pack_cstr(&b, "commit");
	msd_buf_put(&b, c->object, c->n_object);
	ok = ok && wait_for(w, c, client_ask(c, "module.upload", 2, &b, &nothing, 0));
	msd_buf_finish(&b);
	return ok;
}

void client_load(struct world *w, struct client *c, const char *name, uint32_t workers,
		 bool replace)
{
	struct msd_buf b = {0};

	if (c->n_asked + 4 > WORLD_ASKED || c->going.n > 0 || !upload(w, c))
		return;
	msd_pack_cstr(&b, name);
	msd_buf_put(&b, c->object, c->n_object);
	msd_pack_map(&b, 2);
	msd_pack_cstr(&b, "replace");
	msd_pack_bool(&b, replace);
	msd_pack_cstr(&b, "workers");
	msd_pack_uint(&b, workers);
	(void)client_ask(c, "module.load", 3, &b, &nothing, 0);
	msd_buf_finish(&b);
	while (wait_for_thread(w))
		continue;
}

/* Each refuses what it has and dies: in the end the module is given up. */
static void end_fakes(void)
{
	struct fake *f;

	for (unsigned i = 0; i < FAKE_MAX_OPEN && (f = fake_at(0)) != NULL; i++) {
		while (f->n_open > 0) {
			struct msd_buf b = {0};
			msd_body_begin_response(&b, fake_take(f, 0), false);
			msd_pack_error(&b, MSD_CALL_FAILED, "it is the end");
			msd_pack_nil(&b);
			fake_send(f, b.p, b.n, -1);
			msd_buf_finish(&b);
		}
		fake_exit(f);
	}
}

static bool is_answered(const struct client *c)
{
	for (uint64_t id = 1; id <= c->n_asked && c->fd >= 0 && !c->is_wild; id++) {
		if (c->answers[id] == 0)
			return false;
	}
	return true;
}

static bool all_are_answered(const struct world *w)
{
	for (unsigned i = 0; i < WORLD_CLIENTS; i++) {
		if (!is_answered(&w->clients[i]))
			return false;
	}
	return true;
}

static void answer_all(struct world *w)
{
	/* Who waits for a module that cannot be started waits on. */
	fake_may_start = true;
	for (unsigned i = 0; i < WORLD_CLIENTS; i++)
		w->clients[i].is_deaf = false;
	for (int i = 0; i < 100 && !all_are_answered(w); i++) {
		while (wait_for_thread(w))
			continue;
		end_fakes();
		clock_pass(END_STEP_MS);
	}
	MUST(all_are_answered(w));
}

void world_end(struct world *w)
{
	struct msd_server *s = &w->server;

	answer_all(w);
	for (unsigned i = 0; i < WORLD_CLIENTS; i++)
		client_leave(&w->clients[i]);
	for (int i = 0; i < 4; i++)
		world_settle(w);
	msd_server_drain(s, false);
	for (int i = 0; i < 100 && (s->registry.n_modules > 0 || fake_at(0) != NULL);
	     i++) {
		while (wait_for_thread(w))
			continue;
		end_fakes();
		clock_pass(END_STEP_MS);
	}
	MUST(s->registry.n_modules == 0);
	/* One that is not read, for it has too much under way, is heard to be gone when
	 * that is over. */
	MUST(s->edge.n_sessions == 0 && msd_list_is_empty(&s->edge.peers.all));
	MUST(s->edge.loans.n == 0 && s->edge.loans.bytes == 0);
	MUST(s->budget.used_bytes == 0 && s->edge.peers.account.used_bytes == 0);
	while (wait_for_thread(w))
		continue;
	MUST(msd_server_finish(s));
	fakes_settle();
	MUST(msd_list_is_empty(&fakes));
	clock_pass(0);
}
