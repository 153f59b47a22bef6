/*
 * Happy path: the program starts with one end of a socket pair; the other end is its
 * channel. Frames are passed to the owner. After retire, its channel is closed and it
 * exits.
 *
 * Failures: if the process dies or its channel breaks, the owner gets on_died once,
 * and then on_gone. A start that failed halfway calls the same functions.
 */
#include "daemon/supervisor/fetch/fetch_process.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/child/child.h"
#include "daemon/limits.h"
#include "daemon/supervisor/fetch/fetcher.h"
#include "daemon/supervisor/request/budget.h"
#include "proto/base/errno_text.h"

#define MAX_BODY_BYTES (4u << 20) /* maximum frame body: a manifest's tests */
/* A valid reply has about 40 objects: long fields, such as the tests, are bytes. */
#define MAX_ANSWER_OBJECTS 128u

struct msd_fetch_process {
	const struct msd_fetch_process_ops *ops;
	void *user;
	struct msd_child *child;
	struct msd_conn channel;
	bool is_channel_closed;
	bool is_retired; /* its owner has forgotten it */
};

static void on_child_closed(void *user)
{
	struct msd_fetch_process *p = user;
	const struct msd_fetch_process_ops *ops = p->ops;
	void *owner = p->user;

	free(p);
	ops->on_gone(owner);
}

/* The process has exited and its channel is closed: requests without a reply have
 * failed, unless it was retired. */
static void finish_if_over(struct msd_fetch_process *p)
{
	struct msd_child *child = p->child;

	if (!child->has_exited || !p->is_channel_closed)
		return;
	if (!p->is_retired) {
		struct msd_buf why = {0};

		p->is_retired = true;
		msd_buf_printf(&why, child->start_error != 0 ? "modserd-fetch: "
							     : "modserd-fetch died: ");
		msd_child_describe_end(child, &why);
		msd_buf_put_u8(&why, 0);
		p->ops->on_died(p->user,
				why.bad ? "modserd-fetch died" : (const char *)why.p);
		msd_buf_finish(&why);
	}
	msd_child_close(child);
}

static void on_child_output(void *user, const char *bytes, size_t n)
{
	(void)user;
	(void)bytes;
	(void)n; /* the child object keeps the last output */
}

static void on_child_exit(void *user)
{
	struct msd_fetch_process *p = user;

	msd_child_read_output(p->child);
	if (!p->is_channel_closed)
		msd_conn_hear_out(&p->channel, MSD_OK, "the process exited");
	finish_if_over(p);
}

static const struct msd_child_ops child_ops = {.on_output = on_child_output,
					       .on_exit = on_child_exit,
					       .on_closed = on_child_closed};

static void on_frame(struct msd_conn *c, struct msd_in *in)
{
	struct msd_fetch_process *p = c->user;

	if (!p->is_retired)
		p->ops->on_frame(p->user, &p->channel, &in->body);
}

static void on_channel_closed(struct msd_conn *c, msd_err err, const char *why)
{
	struct msd_fetch_process *p = c->user;

	(void)err;
	p->is_channel_closed = true;
	if (!p->is_retired)
		msd_child_kill(p->child, why);
	finish_if_over(p);
}

static const struct msd_conn_ops channel_ops = {.on_frame = on_frame,
						.on_closed = on_channel_closed};

static msd_err open_channel(struct msd_fetch_process *p, struct msd_wire *wire, int fd,
			    struct msd_diag *d)
{
	const struct msd_conn_limits limits = {
		.max_body_bytes = MAX_BODY_BYTES,
		.max_queued_bytes = UINT64_MAX,
		.takes_fds = true,
		.takes_turns = true,
		.max_answer_objects = MAX_ANSWER_OBJECTS,
	};

	return msd_conn_open(&p->channel, wire, msd_transport_of_socket(fd, true),
			     &channel_ops, &limits, p, d);
}

/* *ret is the supervisor's end; on an error it is closed. */
static msd_err spawn(struct msd_fetch_process *p, char *path, int arriving,
		     struct msd_reaper *reaper, int *ret, struct msd_diag *d)
{
	char *folder = arriving >= 0 ? (char *)(uintptr_t) "--arriving" : NULL;
	char *argv[] = {path, (char *)(uintptr_t) "--channel", folder, NULL};
	char text[MSD_ERRNO_TEXT_BYTES];
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		return msd_diag_set(d, MSD_IO, "%s", msd_errno_text(errno, text));
	const struct msd_child_how how = {.argv = argv,
					  .fds = {ends[1], arriving},
					  .n_fds = arriving >= 0 ? 2 : 1};
	const msd_err err = msd_child_spawn(reaper, &how, &child_ops, p, &p->child, d);

	(void)close(ends[1]);
	if (err != MSD_OK)
		(void)close(ends[0]);
	*ret = ends[0];
	return err;
}

static msd_err start(struct msd_fetch_process *p, char *path, int arriving,
		     struct msd_reaper *reaper, struct msd_wire *wire,
		     struct msd_diag *d)
{
	int fd = -1;
	msd_err err = spawn(p, path, arriving, reaper, &fd, d);

	if (err != MSD_OK) {
		on_child_closed(p);
		return err;
	}
	err = open_channel(p, wire, fd, d);
	if (err != MSD_OK) { /* it is running: let it exit as usual */
		p->is_channel_closed = p->is_retired = true;
		msd_child_kill(p->child, "its channel could not be watched");
	}
	return err;
}

msd_err msd_fetch_process_start(char *path, int arriving, struct msd_reaper *reaper,
				struct msd_wire *wire,
				const struct msd_fetch_process_ops *ops, void *user,
				struct msd_fetch_process **ret, struct msd_diag *d)
{
	struct msd_fetch_process *p = calloc(1, sizeof(*p));

	if (p == NULL) {
		ops->on_gone(user);
		return msd_diag_no_memory(d);
	}
	p->ops = ops;
	p->user = user;
	const msd_err err = start(p, path, arriving, reaper, wire, d);
	if (err != MSD_OK)
		return msd_diag_wrap(d, err, "modserd-fetch");
	*ret = p;
	return MSD_OK;
}

void msd_fetch_process_send(struct msd_fetch_process *p, struct msd_out *o)
{
	msd_conn_send(&p->channel, o);
}

void msd_fetch_process_retire(struct msd_fetch_process *p)
{
	p->is_retired = true;
	msd_conn_close(&p->channel, MSD_OK, "nothing is left to fetch");
}

msd_err msd_fetcher_has_place(const struct msd_fetcher *fetcher, struct msd_peer_id who,
			      struct msd_diag *d)
{
	char text[MSD_PEER_TEXT_BYTES];
	uint32_t own = 0;

	MSD_LIST_EACH (it, &fetcher->fetches) {
		own += msd_peer_id_is(MSD_CONTAINER_OF(it, struct msd_fetch, link)->who,
				      who);
	}
	if (who.kind == MSD_PEER_UNKNOWN ||
	    own < msd_fair_share_of_few(fetcher->limits->max_pulls,
					fetcher->n_fetches - own))
		return MSD_OK;
	return msd_diag_set(d, MSD_BUSY,
			    "%s: %u pulls run already, which is its share (max-pulls)",
			    msd_peer_id_text(who, text), own);
}
