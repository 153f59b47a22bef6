#include "daemon/child/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/child/cgroup.h"
#include "daemon/mark.h"
#include "proto/base/errno_text.h"

/*
 * Happy path:
 *   - spawn: a pipe for its output, exec in a session of its own (starter.h)
 *   - output is passed to on_output; its end is kept as last words
 *   - exit: the rest of its control group (cgroup.h) and of its process group is
 *     killed, and processes that left these (reaper.h); on_exit
 *   - close: both handles are closed; on_closed, freed
 *
 * A process of an earlier daemon is watched by a pidfd instead of as a child. A
 * process that is left to the next daemon is only forgotten.
 *
 * Failures:
 *   - it cannot be started: that is reported as its end
 *   - a process that it left behind in another session holds the pipe open: its exit is
 *     enough, the end of the pipe is not waited for
 *   - it writes without end: 16 KiB per child are read in a loop iteration, and 256 KiB
 *     after its exit
 */

#define READ_BYTES 4096u
#define READS_PER_TURN 4u /* per child */
#define READS_AT_END 64u

static void keep_words(struct msd_child *c, const char *bytes, size_t n)
{
	if (n > sizeof(c->words)) {
		bytes += n - sizeof(c->words);
		n = sizeof(c->words);
	}
	size_t old =
		sizeof(c->words) - n < c->n_words ? sizeof(c->words) - n : c->n_words;
	memmove(c->words, c->words + c->n_words - old, old);
	memcpy(c->words + old, bytes, n);
	c->n_words = old + n;
}

/* Read the available output. False at the end: all writers are gone. */
static bool read_some(struct msd_child *c, unsigned most)
{
	char bytes[READ_BYTES];

	for (unsigned i = 0; i < most; i++) {
		ssize_t n = read(c->output_fd, bytes, sizeof(bytes));
		if (n < 0)
			return errno == EAGAIN || errno == EINTR;
		if (n == 0)
			return false;
		keep_words(c, bytes, (size_t)n);
		c->ops->on_output(c->user, bytes, (size_t)n);
	}
	return true;
}

void msd_child_read_output(struct msd_child *c)
{
	(void)read_some(c, READS_AT_END);
}

static void on_output_ready(uv_poll_t *poll, int status, int events)
{
	(void)events;
	if (status < 0 || !read_some(poll->data, READS_PER_TURN))
		(void)uv_poll_stop(poll);
}

static struct msd_child *child_of(struct msd_ward *w)
{
	return (void *)((char *)w - offsetof(struct msd_child, ward));
}

static void on_ended(struct msd_ward *w, int status)
{
	struct msd_child *c = child_of(w);

	c->is_reaped = true;
	c->exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
	c->term_signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	msd_cgroup_kill(c->group);
	(void)kill(-c->ward.pid, SIGKILL); /* children that it left behind */
	msd_reaper_bury(c->reaper, &c->ward);
}

static void be_alone(struct msd_child *c)
{
	c->has_exited = true;
	msd_cgroup_end(c->group);
	c->group = NULL;
	c->ops->on_exit(c->user);
}

static void on_alone(struct msd_ward *w)
{
	be_alone(child_of(w));
}

/* Another process is its parent, and gets its status. */
static void on_found_ended(uv_poll_t *poll, int status, int events)
{
	struct msd_child *c = poll->data;

	(void)status;
	(void)events;
	(void)uv_poll_stop(poll);
	c->is_reaped = true;
	msd_cgroup_kill(c->group);
	(void)kill(-c->ward.pid, SIGKILL);
	be_alone(c);
}

bool msd_child_leave(struct msd_child *c)
{
	if (c->is_reaped || c->ward.start != NULL ||
	    msd_reaper_leave(c->reaper, &c->ward) != MSD_OK)
		return false;
	msd_cgroup_leave(c->group);
	c->group = NULL;
	c->is_reaped = c->is_left = c->has_exited = true;
	return true;
}

static void send_kill(const struct msd_child *c)
{
	const pid_t pid = c->ward.pid;

	(void)kill(-pid, SIGKILL);
	if (c->pidfd >= 0) {
		(void)syscall(SYS_pidfd_send_signal, c->pidfd, SIGKILL, NULL, 0);
	} else {
		/*
		 * It leads that group before its exec, which the starter's clone()
		 * waits for. Under qemu-user that is not so: clone() becomes a
		 * fork().
		 */
		(void)kill(pid, SIGKILL);
	}
}

void msd_child_kill(struct msd_child *c, const char *reason)
{
	if (c->is_reaped)
		return;
	if (c->kill_reason[0] == '\0')
		(void)snprintf(c->kill_reason, sizeof(c->kill_reason), "%s", reason);
	if (c->ward.start != NULL) {
		msd_starter_cancel(&c->reaper->starter, c->ward.start);
	} else {
		send_kill(c);
	}
}

static void on_handle_closed(uv_handle_t *handle)
{
	struct msd_child *c = handle->data;

	if (--c->open_handles > 0)
		return;
	(void)close(c->output_fd);
	if (c->pidfd >= 0)
		(void)close(c->pidfd);
	msd_reaper_forget(c->reaper, &c->ward);
	if (c->ops->on_closed != NULL)
		c->ops->on_closed(c->user);
	free(c);
}

void msd_child_close(struct msd_child *c)
{
	c->open_handles = c->pidfd >= 0 ? 2 : 1;
	if (c->pidfd >= 0)
		uv_close((uv_handle_t *)&c->ended, on_handle_closed);
	uv_close((uv_handle_t *)&c->output, on_handle_closed);
}

/* The daemon's environment, with the mark before it. Owned by the caller; NULL: no
 * memory. */
static char **marked_environment(char *mark)
{
	size_t n = 0;

	while (environ[n] != NULL)
		n++;
	char **all = calloc(n + 2, sizeof(*all));
	if (all == NULL)
		return NULL;
	all[0] = mark;
	memcpy(all + 1, environ, n * sizeof(*all));
	return all;
}

/* No process is left: report that as its end, too. */
static void fail(struct msd_child *c, int error)
{
	c->start_error = error;
	c->is_reaped = true;
	msd_reaper_forget(c->reaper, &c->ward);
	be_alone(c);
}

static void on_begun(void *user, pid_t pid, int error)
{
	struct msd_child *c = user;

	if (error != 0) {
		c->ward.start = NULL;
		fail(c, error);
		return;
	}
	msd_reaper_on_begun(c->reaper, &c->ward, pid);
	if (c->kill_reason[0] != '\0' && !c->is_reaped)
		send_kill(c); /* its descendants, too */
}

static int start(struct msd_child *c, const struct msd_child_how *how, int output,
		 char **environment, struct msd_start **ret)
{
	struct msd_spawn_thread_how all = {
		.argv = how->argv,
		.environment = environment,
		.fds = {-1, output, how->drops_errors ? -1 : output},
		.n_fds = 3 + how->n_fds,
		.user = how->user,
	};

	for (unsigned i = 0; i < how->n_fds; i++)
		all.fds[3 + i] = how->fds[i];
	return msd_starter_begin(&c->reaper->starter, &all, on_begun, c, ret);
}

static void on_failed_spawn_closed(uv_handle_t *handle)
{
	free(handle->data);
}

/* Free it at once: the caller does not have it yet. */
static msd_err failed_start(struct msd_child *c, int error, struct msd_diag *d)
{
	struct msd_buf why = {0};

	c->start_error = error;
	msd_child_describe_end(c, &why);
	const msd_err err = msd_diag_set(d, MSD_IO, "%.*s", (int)why.n, (char *)why.p);
	msd_buf_finish(&why);
	(void)close(c->output_fd);
	uv_close((uv_handle_t *)&c->output, on_failed_spawn_closed);
	return err;
}

/* Make a pipe for its output, read from the loop. */
static msd_err open_output(struct msd_child *c, const char *program, int *ret_end,
			   struct msd_diag *d)
{
	char text[MSD_ERRNO_TEXT_BYTES];
	int ends[2];
	int rc;

	if (pipe2(ends, O_CLOEXEC) != 0) {
		return msd_diag_set(d, MSD_IO, "starting %s: %s", program,
				    msd_errno_text(errno, text));
	}
	(void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
	rc = uv_poll_init(c->reaper->loop, &c->output, ends[0]);
	if (rc != 0) {
		(void)close(ends[0]);
		(void)close(ends[1]);
		return msd_diag_set(d, MSD_IO, "starting %s: watching its output: %s",
				    program, msd_errno_text(-rc, text));
	}
	c->output_fd = ends[0];
	*ret_end = ends[1];
	return MSD_OK;
}

msd_err msd_child_spawn(struct msd_reaper *reaper, const struct msd_child_how *how,
			const struct msd_child_ops *ops, void *user,
			struct msd_child **ret, struct msd_diag *d)
{
	const struct msd_mark mark = msd_reaper_new_mark(reaper);
	struct msd_child *c = calloc(1, sizeof(*c));
	char variable[sizeof(MSD_MARK_VARIABLE) + 48];
	int output = -1;

	(void)snprintf(variable, sizeof(variable), MSD_MARK_VARIABLE "=%llu,%llu",
		       (unsigned long long)mark.falls, (unsigned long long)mark.rises);
	char **environment = marked_environment(variable);
	if (c == NULL || environment == NULL) {
		free(c);
		free(environment);
		return msd_diag_no_memory(d);
	}
	c->reaper = reaper;
	const msd_err err = open_output(c, how->argv[0], &output, d);
	if (err != MSD_OK) {
		free(c);
		free(environment);
		return err;
	}
	c->ops = ops;
	c->user = user;
	c->pidfd = -1;
	c->has_user = how->user != NULL;
	(void)snprintf(c->program, sizeof(c->program), "%s", how->argv[0]);
	c->ward.on_ended = on_ended;
	c->ward.on_alone = on_alone;
	c->output.data = c;
	struct msd_start *begun = NULL;
	const int error = start(c, how, output, environment, &begun);
	free(environment);
	(void)close(output);
	if (error != 0)
		return failed_start(c, error, d);
	c->group = how->group;
	msd_reaper_await(reaper, &c->ward, begun, mark);
	(void)uv_poll_start(&c->output, UV_READABLE, on_output_ready);
	*ret = c;
	return MSD_OK;
}

static void on_failed_adoption_closed(uv_handle_t *handle)
{
	free(handle->data);
}

msd_err msd_child_adopt(struct msd_reaper *reaper, const struct msd_child_found *found,
			const struct msd_child_ops *ops, void *user,
			struct msd_child **ret, struct msd_diag *d)
{
	struct msd_child *c = calloc(1, sizeof(*c));
	char text[MSD_ERRNO_TEXT_BYTES];

	if (c == NULL)
		return msd_diag_no_memory(d);
	*c = (struct msd_child){.ward.pid = found->pid,
				.pidfd = found->pidfd,
				.output_fd = found->output_fd,
				.group = found->group,
				.ops = ops,
				.user = user,
				.reaper = reaper};
	c->ended.data = c->output.data = c;
	int rc = uv_poll_init(reaper->loop, &c->ended, c->pidfd);
	if (rc != 0) {
		free(c);
	} else {
		rc = uv_poll_init(reaper->loop, &c->output, c->output_fd);
		if (rc != 0)
			uv_close((uv_handle_t *)&c->ended, on_failed_adoption_closed);
	}
	if (rc != 0) {
		return msd_diag_set(d, MSD_IO, "watching process %d: %s",
				    (int)found->pid, msd_errno_text(-rc, text));
	}
	(void)uv_poll_start(&c->ended, UV_READABLE, on_found_ended);
	(void)uv_poll_start(&c->output, UV_READABLE, on_output_ready);
	*ret = c;
	return MSD_OK;
}
