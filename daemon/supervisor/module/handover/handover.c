#include "daemon/supervisor/module/handover/handover.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/child/cgroup.h"
#include "daemon/supervisor/module/workers/process_parts.h"

/*
 * Happy path: a worker has its module open, and the service manager gets its
 * descriptors. The daemon exits. The next daemon puts them into its handover pool,
 * and a module asks for a worker of the same key. A new channel goes through the
 * worker's handover socket, and it resumes. Failures: a worker that is incomplete,
 * unneeded, or slow to resume is killed, and a fresh one is started as usual.
 */

static bool is_on_shelf(const void *ctx, uint64_t number)
{
	return msd_handover_shelf_has_group(ctx, number);
}

static void sweep(struct msd_module_registry *registry)
{
	if (registry->groups != NULL)
		msd_cgroups_sweep(registry->groups, is_on_shelf, &registry->warm.shelf);
}

void msd_handover_gather(struct msd_module_registry *registry)
{
	msd_handover_shelf_judge(&registry->warm.shelf);
	sweep(registry);
}

void msd_handover_end_rest(struct msd_module_registry *registry, const char *why)
{
	if (registry->warm.shelf.n == 0)
		return;
	msd_handover_shelf_clear(&registry->warm.shelf, why);
	sweep(registry);
}

/* Send one end of a channel through the handover socket, with a byte to carry it. */
static bool pass_channel(int door, int fd)
{
	char byte = 0;
	struct iovec piece = {.iov_base = &byte, .iov_len = 1};
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = {{0}};
	struct msghdr m = {.msg_iov = &piece,
			   .msg_iovlen = 1,
			   .msg_control = control.room,
			   .msg_controllen = sizeof(control.room)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	return sendmsg(door, &m, MSG_DONTWAIT | MSG_NOSIGNAL) == 1;
}

static bool find_group(struct msd_module_registry *registry,
		       const struct msd_handover *w, struct msd_cgroup **ret)
{
	struct msd_cgroup_limits limits;
	struct msd_diag d = {0};

	*ret = NULL;
	if (w->name.group == 0 || registry->groups == NULL)
		return w->name.group == 0 && registry->groups == NULL;
	msd_process_group_limits(registry->limits, &limits);
	const bool is_found = msd_cgroup_find(registry->groups, w->name.group, &limits,
					      ret, &d) == MSD_OK;
	msd_diag_finish(&d);
	return is_found;
}

/* On success the child and the process own the descriptors of @w. */
static msd_err adopt(struct msd_process *p, struct msd_handover *w, struct msd_diag *d)
{
	struct msd_child_found found = {.pid = w->name.pid,
					.pidfd = w->fds[MSD_HANDOVER_PROCESS],
					.output_fd = w->fds[MSD_HANDOVER_OUTPUT]};
	int ends[2];

	if (!find_group(p->registry, w, &found.group))
		return msd_diag_set(d, MSD_IO, "it is not in its control group");
	msd_err err = msd_process_ends(ends, d);
	if (err == MSD_OK && !pass_channel(w->fds[MSD_HANDOVER_DOOR], ends[1])) {
		(void)close(ends[0]);
		(void)close(ends[1]);
		err = msd_diag_set(d, MSD_IO, "its takeover socket is closed");
	}
	if (err != MSD_OK) {
		msd_cgroup_leave(found.group);
		return err;
	}
	(void)close(ends[1]);
	err = msd_child_adopt(p->registry->reaper, &found, &msd_process_child_ops, p,
			      &p->child, d);
	if (err != MSD_OK) {
		msd_cgroup_leave(found.group);
		(void)close(ends[0]);
		return err;
	}
	w->fds[MSD_HANDOVER_PROCESS] = w->fds[MSD_HANDOVER_OUTPUT] = -1;
	p->warm.door = w->fds[MSD_HANDOVER_DOOR];
	p->warm.lifeline = w->fds[MSD_HANDOVER_LIFELINE];
	w->fds[MSD_HANDOVER_DOOR] = w->fds[MSD_HANDOVER_LIFELINE] = -1;
	msd_process_ref(p); /* the child's */
	err = msd_process_open_channel(p, ends[0], d);
	if (err != MSD_OK) { /* let it die like any other */
		p->is_channel_closed = true;
		msd_process_detach(p);
		msd_process_kill(p, "its channel could not be watched");
	}
	return err;
}

struct msd_process *msd_handover_find(struct msd_module_registry *registry,
				      const struct msd_digest *key,
				      const struct msd_process_ops *ops,
				      struct msd_replica *owner)
{
	struct msd_handover *w = msd_handover_shelf_pop(&registry->warm.shelf, key);
	struct msd_process *p =
		w != NULL ? msd_process_new(registry, ops, owner) : NULL;
	struct msd_diag d = {0};

	if (p == NULL) {
		if (w != NULL)
			msd_handover_kill(w, "there is no memory to take it over");
		return NULL;
	}
	if (adopt(p, w, &d) == MSD_OK) {
		msd_handover_free(w);
		msd_process_end_in(p, MSD_HANDOVER_RESUME_MS,
				   "it was kept, and did not resume in time");
	} else {
		msd_handover_kill(w, msd_diag_text(&d));
		msd_process_unref(p);
		p = NULL;
	}
	msd_diag_finish(&d);
	return p;
}
