#include "daemon/supervisor/module/process.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/child/cgroup.h"
#include "daemon/limits.h"
#include "daemon/log.h"
#include "daemon/supervisor/module/facts.h"
#include "daemon/supervisor/module/pass.h"
#include "daemon/wire/segpool.h"
#include "daemon/wire/without.h"
#include "proto/errno_text.h"
#include "proto/value.h"

/*
 * Happy path:
 *  - spawn: socketpair, msd_child_spawn(); the replica sends worker.open
 *  - frames and output go to the replica
 *  - msd_process_kill(); on_child_exit; channel closed; log drained:
 *    the replica hears of the loss, once
 *
 * Failures:
 *  - exits by itself: what is left in channel and log is read, then lost
 *  - closes its channel, or refuses its artifact: killed unless it exits within
 *    EXIT_MS, and lost at on_child_exit
 *  - a child of it keeps the channel open: on_child_exit is enough
 *  - breaks the protocol: the channel closes with that error, killed at once
 */

#define RELEASE_EAGER_BYTES (16u << 20) /* this much unreleased is worth a wake-up */
#define RELEASE_LATEST_MS 50
#define COOL_AFTER_BYTES (512u << 20) /* docs/decisions.md has what it costs */
/* Of one notification, far below what its reader takes (MSD_MAX_OBJECTS). */
#define RELEASES_PER_FRAME 8192u
/* A dying process closes its channel a moment before its exit tells why it died; on a
 * loaded machine the moment is long, and who is killed within it dies of us. */
#define EXIT_MS 1000

void msd_process_ref(struct msd_process *p)
{
	p->refs++;
}

void msd_process_unref(struct msd_process *p)
{
	if (p == NULL || --p->refs > 0)
		return;
	msd_segmap_finish(&p->out);
	msd_memory_finish(&p->answers);
	msd_buf_finish(&p->releases);
	free(p);
}

void msd_process_kill(struct msd_process *p, const char *reason)
{
	if (p->child != NULL)
		msd_child_kill(p->child, reason);
}

void msd_process_detach(struct msd_process *p)
{
	p->replica = NULL;
}

static void on_output(void *user, const char *bytes, size_t n)
{
	struct msd_process *p = user;

	if (p->replica != NULL)
		p->ops->on_output(p->replica, bytes, n);
}

static void on_child_closed(void *user)
{
	struct msd_process *p = user;
	struct msd_house *house = p->house;

	msd_process_unref(p);
	house->on_gone(house);
}

/* Both ends have come: tell the replica, then close what is left. */
static void finish_if_over(struct msd_process *p)
{
	struct msd_child *child = p->child;

	if (child == NULL || !child->has_exited || !p->is_channel_closed)
		return;
	msd_child_read_output(child);
	msd_deadline_clear(p->house->deadlines, &p->release_timer);
	msd_deadline_clear(p->house->deadlines, &p->exit_timer);
	msd_pass_forget(p);
	if (p->replica != NULL)
		p->ops->on_lost(p->replica);
	p->child = NULL;
	msd_child_close(child);
}

static void on_child_exit(void *user)
{
	struct msd_process *p = user;

	/* Answers that it wrote before it died are answers. */
	if (!p->is_channel_closed)
		msd_conn_hear_out(&p->channel, MSD_OK, "the process exited");
	finish_if_over(p);
}

static const struct msd_child_ops child_ops = {
	.on_output = on_output,
	.on_exit = on_child_exit,
	.on_closed = on_child_closed,
};

static void on_channel_frame(struct msd_conn *c, struct msd_in *in)
{
	struct msd_process *p = c->user;

	if (p->replica != NULL)
		p->ops->on_frame(p->replica, in);
}

static void on_exit_due(struct msd_deadline *node)
{
	struct msd_process *p = MSD_CONTAINER_OF(node, struct msd_process, exit_timer);

	msd_process_kill(p, p->exit_reason);
}

void msd_process_await_exit(struct msd_process *p, const char *reason)
{
	if (!msd_process_is_running(p) || msd_deadline_is_set(&p->exit_timer))
		return;
	p->exit_reason = reason;
	msd_deadline_set(p->house->deadlines, &p->exit_timer, EXIT_MS);
}

static void kill_for_breach(struct msd_process *p, const char *why)
{
	char reason[128];

	(void)snprintf(reason, sizeof(reason), "it broke the protocol: %s", why);
	msd_process_kill(p, reason);
}

static void on_channel_closed(struct msd_conn *c, msd_err err, const char *why)
{
	struct msd_process *p = c->user;

	p->is_channel_closed = true;
	if (err == MSD_PROTOCOL || err == MSD_TOO_LARGE) {
		msd_log(MSD_LOG_WARN, "worker-protocol", "pid=%d why=\"%s\"",
			(int)p->child->pid, why);
		kill_for_breach(p, why);
	} else {
		msd_process_await_exit(p, "it closed its channel");
	}
	finish_if_over(p);
}

static const struct msd_conn_ops channel_ops = {
	.on_frame = on_channel_frame,
	.on_closed = on_channel_closed,
};

/* Our end [0] and the worker's [1]. */
static msd_err open_ends(int ret[2], struct msd_diag *d)
{
	const int buffer = 1 << 20;
	char text[MSD_ERRNO_TEXT_BYTES];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ret) != 0) {
		return msd_diag_set(d, MSD_IO, "worker: %s",
				    msd_errno_text(errno, text));
	}
	for (int i = 0; i < 2; i++) { /* only a wish: room for a burst of frames */
		(void)setsockopt(ret[i], SOL_SOCKET, SO_SNDBUF, &buffer,
				 sizeof(buffer));
	}
	return MSD_OK;
}

/* It would start, and could not put its descriptors out of its module's way. */
static msd_err check_descriptors(struct msd_diag *d)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r) != 0 || r.rlim_cur >= MSD_LEAST_WORKER_FILES)
		return MSD_OK;
	return msd_diag_set(
		d, MSD_IO,
		"worker: RLIMIT_NOFILE is %llu, and it needs %u: raise it (%s)",
		(unsigned long long)r.rlim_cur, MSD_LEAST_WORKER_FILES,
		MSD_RAISE_DESCRIPTORS);
}

/* Of a memory that is lent, too: pages are whose who is first to touch them. */
static uint64_t group_memory(const struct msd_limits *l)
{
	const uint64_t most = UINT64_MAX / 4;

	if (l->max_worker_memory > most || l->max_memory > most ||
	    l->max_segment_memory > most)
		return 0;
	return l->max_worker_memory + l->max_memory + l->max_segment_memory;
}

/* All that its processes have together: data, as each one's own limit has it, and the
 * pages of its out segments and of clients' segments. */
static msd_err make_group(struct msd_house *house, struct msd_cgroup **ret,
			  struct msd_diag *d)
{
	const struct msd_limits *l = house->limits;
	const struct msd_cgroup_limits limits = {
		.max_processes = l->max_worker_processes,
		.max_memory = group_memory(l),
	};

	return msd_cgroup_create(house->groups, &limits, ret, d);
}

static msd_err exec_worker(struct msd_process *p, char *name, int artifact_fd,
			   int channel, struct msd_diag *d)
{
	char *argv[] = {p->house->worker_path, (char *)(uintptr_t) "--name", name, NULL,
			NULL};
	struct msd_child_how how = {.argv = argv,
				    .fds = {channel, artifact_fd},
				    .n_fds = 2,
				    .user = p->house->worker_user};
	msd_err err = MSD_OK;

	if (p->house->groups != NULL)
		err = make_group(p->house, &how.group, d);
	if (how.group != NULL) {
		argv[3] = (char *)(uintptr_t) "--group";
		how.fds[how.n_fds++] = msd_cgroup_join_fd(how.group);
	}
	if (err == MSD_OK) {
		err = msd_child_spawn(p->house->reaper, &how, &child_ops, p, &p->child,
				      d);
	}
	if (err == MSD_OK)
		return MSD_OK;
	msd_cgroup_end(how.group);
	return msd_diag_wrap(d, err, "worker");
}

static void on_release_due(struct msd_deadline *node)
{
	msd_process_flush_releases(
		MSD_CONTAINER_OF(node, struct msd_process, release_timer));
}

/* The worker is on the far side of the trust line: its frames are bounded like a
 * client's, and it may pass segments. */
static msd_err open_channel(struct msd_process *p, int fd, struct msd_diag *d)
{
	struct msd_conn_limits limits = {
		/* The description is the largest, and too large a one is answered. */
		.max_body_bytes = MSD_FACTS_MAX_BYTES + MSD_MAX_BODY_BYTES,
		.max_payload_bytes = 0,
		.max_queued_bytes = UINT64_MAX,
		.takes_fds = true,
		.takes_turns = true,
		.gathers = !msd_without("gather"),
	};

	p->answers.kind = MSD_RESPONSE;
	if (!msd_without("plans"))
		limits.memory = &p->answers;
	return msd_conn_open(&p->channel, p->house->wire,
			     msd_transport_of_socket(fd, true), &channel_ops, &limits,
			     p, d);
}

msd_err msd_process_spawn(struct msd_house *house, char *name, int artifact_fd,
			  const struct msd_process_ops *ops, struct msd_replica *owner,
			  struct msd_process **ret, struct msd_diag *d)
{
	struct msd_process *p = calloc(1, sizeof(*p));
	int ends[2] = {-1, -1};

	if (p == NULL)
		return msd_diag_set(d, MSD_NOMEM, "worker: out of memory");
	p->house = house;
	p->ops = ops;
	p->replica = owner;
	p->refs = 1;
	msd_list_init(&p->lent);
	p->release_timer.on_due = on_release_due;
	p->exit_timer.on_due = on_exit_due;
	msd_segmap_init(&p->out, msd_segpool_most_addresses(house->limits->max_memory));
	msd_err err = check_descriptors(d);
	if (err == MSD_OK)
		err = open_ends(ends, d);
	if (err == MSD_OK)
		err = exec_worker(p, name, artifact_fd, ends[1], d);
	if (ends[1] >= 0)
		(void)close(ends[1]);
	if (err != MSD_OK) {
		if (ends[0] >= 0)
			(void)close(ends[0]);
		msd_process_unref(p);
		return err;
	}
	msd_process_ref(p); /* the child's */
	err = open_channel(p, ends[0], d);
	if (err != MSD_OK) { /* it is running: let it die like any other */
		p->is_channel_closed = true;
		msd_process_detach(p);
		msd_process_kill(p, "its channel could not be watched");
		msd_process_unref(p);
		return err;
	}
	*ret = p;
	return MSD_OK;
}

void msd_process_flush_releases(struct msd_process *p)
{
	struct msd_out *o;

	msd_deadline_clear(p->house->deadlines, &p->release_timer);
	if (p->n_releases == 0 || p->channel.is_closing)
		return;
	o = p->releases.bad ? NULL : msd_out_new();
	if (o == NULL) { /* slots that it never hears of would be lost to it */
		msd_process_kill(p, "there was no memory to tell it what is free");
		return;
	}
	msd_body_begin_notification(&o->body, "worker.release");
	msd_pack_array(&o->body, p->n_releases * 2u);
	msd_buf_put(&o->body, p->releases.p, p->releases.n);
	p->releases.n = 0;
	p->n_releases = 0;
	p->release_bytes = 0;
	msd_conn_send(&p->channel, o);
}

void msd_process_cool(struct msd_process *p)
{
	if (p->sent_bytes == 0)
		return;
	msd_segmap_cool(&p->out);
	p->sent_bytes = 0;
}

/*
 * A release of its own would wake the worker once more per call. So it waits for the
 * next request, unless much memory is waiting or nothing comes for a while.
 */
void msd_process_release(struct msd_process *p, uint16_t segment, uint64_t offset,
			 uint64_t bytes)
{
	p->sent_bytes += bytes;
	if (p->sent_bytes > COOL_AFTER_BYTES)
		msd_process_cool(p);
	if (!msd_process_is_running(p) || p->channel.is_closing)
		return;
	msd_pack_uint(&p->releases, segment);
	msd_pack_uint(&p->releases, offset);
	p->n_releases++;
	p->release_bytes += bytes;
	if (p->release_bytes > RELEASE_EAGER_BYTES ||
	    p->n_releases >= RELEASES_PER_FRAME) {
		msd_process_flush_releases(p);
	} else if (!msd_deadline_is_set(&p->release_timer)) {
		msd_deadline_set(p->house->deadlines, &p->release_timer,
				 RELEASE_LATEST_MS);
	}
}
