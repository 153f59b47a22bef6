#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/child/cgroup.h"
#include "daemon/limits.h"
#include "daemon/loop/disabled_features.h"
#include "daemon/supervisor/module/workers/process_parts.h"
#include "proto/base/errno_text.h"

/*
 * Start a worker. Happy path: create a socketpair, a control group and, if it may be
 * kept, the descriptors for that; then call msd_child_spawn(). Failures: all of these
 * are released.
 */

/* The supervisor's end [0] and the worker's [1]. */
msd_err msd_process_ends(int ret[2], struct msd_diag *d)
{
	const int buffer = 1 << 20;
	char text[MSD_ERRNO_TEXT_BYTES];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ret) != 0) {
		return msd_diag_set(d, MSD_IO, "worker: %s",
				    msd_errno_text(errno, text));
	}
	for (int i = 0; i < 2; i++) { /* optional: room for a burst of frames */
		(void)setsockopt(ret[i], SOL_SOCKET, SO_SNDBUF, &buffer,
				 sizeof(buffer));
	}
	return MSD_OK;
}

/* With fewer descriptors the worker starts, but cannot move its own out of the
 * module's way. */
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

/* Includes client segments: a page is charged to the group that touches it first. */
static uint64_t group_memory(const struct msd_limits *l)
{
	const uint64_t most = UINT64_MAX / 4;

	if (l->max_worker_memory > most || l->max_memory > most ||
	    l->max_segment_memory > most)
		return 0;
	return l->max_worker_memory + l->max_memory + l->max_segment_memory;
}

void msd_process_group_limits(const struct msd_limits *l, struct msd_cgroup_limits *ret)
{
	*ret = (struct msd_cgroup_limits){.max_processes = l->max_worker_processes,
					  .max_memory = group_memory(l)};
}

/* Limits for all its processes together: data, as each process's own limit has it,
 * and the pages of its out segments and of client segments. */
static msd_err make_group(struct msd_module_registry *registry, struct msd_cgroup **ret,
			  struct msd_diag *d)
{
	struct msd_cgroup_limits limits;

	msd_process_group_limits(registry->limits, &limits);
	return msd_cgroup_create(registry->groups, &limits, ret, d);
}

/* The worker's ends; the daemon has the other ends. */
struct keeping_ends {
	int door, lifeline;
};

/* A worker that may be kept has two more descriptors: a handover socket for the next
 * supervisor, and a pipe that ends it when no process has the other end. */
static msd_err open_keeping(struct msd_handover_ends *ours, struct keeping_ends *its,
			    struct msd_diag *d)
{
	char text[MSD_ERRNO_TEXT_BYTES];
	int door[2], lifeline[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, door) != 0) {
		return msd_diag_set(d, MSD_IO, "worker: %s",
				    msd_errno_text(errno, text));
	}
	ours->door = door[0];
	its->door = door[1];
	if (pipe2(lifeline, O_CLOEXEC) != 0) {
		return msd_diag_set(d, MSD_IO, "worker: %s",
				    msd_errno_text(errno, text));
	}
	ours->lifeline = lifeline[1];
	its->lifeline = lifeline[0];
	return MSD_OK;
}

static void close_keeping(const struct keeping_ends *its)
{
	if (its->door >= 0)
		(void)close(its->door);
	if (its->lifeline >= 0)
		(void)close(its->lifeline);
}

static msd_err exec_worker(struct msd_process *p, char *name, int artifact_fd,
			   int channel, struct msd_diag *d)
{
	char *argv[6] = {p->registry->worker_path, (char *)(uintptr_t) "--name", name};
	unsigned n_args = 3;
	struct msd_child_how how = {.argv = argv,
				    .fds = {channel, artifact_fd},
				    .n_fds = 2,
				    .user = p->registry->worker_user};
	struct keeping_ends its = {-1, -1};
	msd_err err = MSD_OK;

	if (p->registry->warm.is_on)
		err = open_keeping(&p->warm, &its, d);
	if (its.lifeline >= 0) {
		argv[n_args++] = (char *)(uintptr_t) "--keep";
		how.fds[how.n_fds++] = its.door;
		how.fds[how.n_fds++] = its.lifeline;
	}
	if (err == MSD_OK && p->registry->groups != NULL)
		err = make_group(p->registry, &how.group, d);
	if (how.group != NULL) {
		argv[n_args++] = (char *)(uintptr_t) "--group";
		how.fds[how.n_fds++] = msd_cgroup_join_fd(how.group);
	}
	if (err == MSD_OK) {
		err = msd_child_spawn(p->registry->reaper, &how, &msd_process_child_ops,
				      p, &p->child, d);
	}
	close_keeping(&its);
	if (err == MSD_OK)
		return MSD_OK;
	msd_cgroup_end(how.group);
	return msd_diag_wrap(d, err, "worker");
}

/* The worker is not trusted. Its frames are limited like a client's, to the size of a
 * valid one (MSD_MAX_BODY_BYTES plus an envelope). It may pass segments. */
msd_err msd_process_open_channel(struct msd_process *p, int fd, struct msd_diag *d)
{
	struct msd_conn_limits limits = {
		.max_body_bytes = MSD_MAX_FORWARDED_BODY_BYTES,
		.max_payload_bytes = 0,
		.max_queued_bytes = UINT64_MAX,
		.shares = &p->registry->wire->worker,
		.takes_fds = true,
		.takes_turns = true,
		.gathers = !msd_feature_is_disabled("gather"),
	};

	p->answers.kind = MSD_RESPONSE;
	p->answers.has_places = true;
	if (!msd_feature_is_disabled("plans"))
		limits.memory = &p->answers;
	return msd_conn_open(&p->channel, p->registry->wire,
			     msd_transport_of_socket(fd, true),
			     &msd_process_channel_ops, &limits, p, d);
}

msd_err msd_process_spawn(struct msd_module_registry *registry, char *name,
			  int artifact_fd, const struct msd_process_ops *ops,
			  struct msd_replica *owner, struct msd_process **ret,
			  struct msd_diag *d)
{
	struct msd_process *p = msd_process_new(registry, ops, owner);
	int ends[2] = {-1, -1};

	if (p == NULL)
		return msd_diag_set(d, MSD_NOMEM, "worker: out of memory");
	msd_err err = check_descriptors(d);
	if (err == MSD_OK)
		err = msd_process_ends(ends, d);
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
	err = msd_process_open_channel(p, ends[0], d);
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
