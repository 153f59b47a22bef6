#include "daemon/supervisor/module/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/log.h"
#include "daemon/supervisor/module/module.h"
#include "proto/value.h"

/*
 * Happy path:
 *  - spawn: socketpair, log pipe, exec; the replica sends worker.open through `channel`
 *  - frames go to msd_replica_on_frame(), output to msd_module_log()
 *  - msd_process_kill(); on_process_exit; channel closed; log drained:
 *    msd_replica_on_lost(), once
 *
 * Failures:
 *  - exits by itself: what is left in channel and log is read, then lost
 *  - closes its channel: killed unless it exits within EXIT_AFTER_CHANNEL_MS, and lost
 *    at on_process_exit
 *  - a child of it keeps the channel open: on_process_exit is enough, the group is
 *    killed
 *  - breaks the protocol: the channel closes with that error, killed at once
 */

#define RELEASE_EAGER_BYTES (16u << 20) /* this much unreleased is worth a wake-up */
#define RELEASE_LATEST_MS 50
/* A dying process closes its channel a moment before its exit tells why it died; on a
 * loaded machine the moment is long, and who is killed within it dies of us. */
#define EXIT_AFTER_CHANNEL_MS 1000

void msd_process_ref(struct msd_process *p)
{
	p->refs++;
}

void msd_process_unref(struct msd_process *p)
{
	if (p == NULL || --p->refs > 0)
		return;
	msd_segmap_finish(&p->out);
	msd_buf_finish(&p->releases);
	free(p);
}

void msd_process_kill(struct msd_process *p, const char *reason)
{
	if (p->has_exited)
		return;
	if (p->kill_reason[0] == '\0')
		(void)snprintf(p->kill_reason, sizeof(p->kill_reason), "%s", reason);
	(void)kill(-p->pid, SIGKILL);
	(void)kill(p->pid, SIGKILL); /* before its setsid() there is no such group */
}

void msd_process_detach(struct msd_process *p)
{
	p->replica = NULL;
}

static void keep_words(struct msd_process *p, const char *bytes, size_t n)
{
	if (n > sizeof(p->words)) {
		bytes += n - sizeof(p->words);
		n = sizeof(p->words);
	}
	size_t old =
		sizeof(p->words) - n < p->n_words ? sizeof(p->words) - n : p->n_words;
	memmove(p->words, p->words + p->n_words - old, old);
	memcpy(p->words + old, bytes, n);
	p->n_words = old + n;
}

/* Keep what has been written. False at the end: every writer is gone. */
static bool read_log(struct msd_process *p)
{
	char bytes[4096];

	for (int i = 0; i < 64; i++) { /* bounded: a module may write without end */
		ssize_t n = read(p->log_fd, bytes, sizeof(bytes));
		if (n < 0)
			return errno == EAGAIN || errno == EINTR;
		if (n == 0)
			return false;
		keep_words(p, bytes, (size_t)n);
		if (p->replica != NULL)
			msd_module_log(p->replica->module, bytes, (size_t)n);
	}
	return true;
}

static void on_log(uv_poll_t *poll, int status, int events)
{
	(void)events;
	if (status < 0 || !read_log(poll->data))
		(void)uv_poll_stop(poll);
}

static void on_handle_closed(uv_handle_t *handle)
{
	struct msd_process *p = handle->data;

	if (--p->open_handles > 0)
		return;
	(void)close(p->log_fd);
	p->log_fd = -1;
	struct msd_server *s = p->server;
	msd_process_unref(p);
	msd_server_check_drained(s);
}

/* Both ends have come: tell the replica, then close what is left. */
static void finish_if_over(struct msd_process *p)
{
	if (!p->has_exited || !p->is_channel_closed || p->was_lost_told)
		return;
	p->was_lost_told = true;
	(void)read_log(p);
	msd_deadline_clear(&p->server->deadlines, &p->release_timer);
	msd_deadline_clear(&p->server->deadlines, &p->exit_timer);
	if (p->replica != NULL)
		msd_replica_on_lost(p->replica);
	p->open_handles = 2;
	uv_close((uv_handle_t *)&p->handle, on_handle_closed);
	uv_close((uv_handle_t *)&p->log_poll, on_handle_closed);
}

static void on_process_exit(uv_process_t *handle, int64_t status, int signal)
{
	struct msd_process *p = handle->data;

	p->has_exited = true;
	p->exit_status = status;
	p->term_signal = signal;
	(void)kill(-p->pid, SIGKILL); /* children that it left behind */
	/* Answers that it wrote before it died are answers. */
	if (!p->is_channel_closed && !p->channel.is_closing)
		msd_conn_poll_now(&p->channel);
	if (!p->is_channel_closed)
		msd_conn_close(&p->channel, MSD_OK, "the process exited");
	finish_if_over(p);
}

static void on_channel_frame(struct msd_conn *c, struct msd_in *in)
{
	struct msd_process *p = c->user;

	if (p->replica != NULL)
		msd_replica_on_frame(p->replica, in);
}

static void on_exit_due(struct msd_deadline *node)
{
	msd_process_kill(MSD_CONTAINER_OF(node, struct msd_process, exit_timer),
			 "it closed its channel");
}

static void on_channel_closed(struct msd_conn *c, msd_err err, const char *why)
{
	struct msd_process *p = c->user;

	p->is_channel_closed = true;
	if (err == MSD_PROTOCOL || err == MSD_TOO_LARGE) {
		msd_log(MSD_LOG_WARN, "worker-protocol", "pid=%d why=\"%s\"",
			(int)p->pid, why);
		msd_process_kill(p, "it broke the protocol on its channel");
	} else if (!p->has_exited &&
		   !msd_deadline_set(&p->server->deadlines, &p->exit_timer,
				     EXIT_AFTER_CHANNEL_MS)) {
		on_exit_due(&p->exit_timer);
	}
	finish_if_over(p);
}

static const struct msd_conn_ops channel_ops = {
	.on_frame = on_channel_frame,
	.on_closed = on_channel_closed,
};

/* Our end [0] and the worker's [1] of channel and log. */
struct ends {
	int channel[2];
	int log[2];
};

static void ends_close(struct ends *e)
{
	int *all[] = {&e->channel[0], &e->channel[1], &e->log[0], &e->log[1]};

	for (unsigned i = 0; i < 4; i++) {
		if (*all[i] >= 0)
			(void)close(*all[i]);
		*all[i] = -1;
	}
}

static msd_err ends_open(struct ends *e, struct msd_diag *d)
{
	const int buffer = 1 << 20;

	*e = (struct ends){{-1, -1}, {-1, -1}};
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, e->channel) != 0 ||
	    pipe2(e->log, O_CLOEXEC) != 0) {
		(void)msd_diag_set(d, MSD_IO, "worker: %s", strerror(errno));
		ends_close(e);
		return MSD_IO;
	}
	(void)fcntl(e->log[0], F_SETFL, O_NONBLOCK);
	for (int i = 0; i < 2; i++) /* only a wish: room for a burst of frames */
		(void)setsockopt(e->channel[i], SOL_SOCKET, SO_SNDBUF, &buffer,
				 sizeof(buffer));
	return MSD_OK;
}

static msd_err exec_worker(struct msd_process *p, const struct ends *e,
			   struct msd_diag *d)
{
	struct msd_module *m = p->replica->module;
	char *argv[] = {p->server->worker_path, (char *)(uintptr_t) "--name", m->name,
			NULL};
	uv_stdio_container_t stdio[5] = {
		{.flags = UV_IGNORE},
		{.flags = UV_INHERIT_FD, .data.fd = e->log[1]},
		{.flags = UV_INHERIT_FD, .data.fd = e->log[1]},
		{.flags = UV_INHERIT_FD, .data.fd = e->channel[1]},
		{.flags = UV_INHERIT_FD, .data.fd = m->artifact_fd},
	};
	uv_process_options_t options = {
		.file = p->server->worker_path,
		.args = argv,
		.exit_cb = on_process_exit,
		.flags = UV_PROCESS_DETACHED, /* a process group of its own, to be
						 killed whole */
		.stdio = stdio,
		.stdio_count = 5,
	};
	int rc = uv_spawn(&p->server->loop, &p->handle, &options);
	if (rc != 0)
		return msd_diag_set(d, MSD_IO, "starting worker %s: %s",
				    p->server->worker_path, uv_strerror(rc));
	p->pid = p->handle.pid;
	return MSD_OK;
}

static void on_release_due(struct msd_deadline *node)
{
	msd_process_flush_releases(
		MSD_CONTAINER_OF(node, struct msd_process, release_timer));
}

static void on_failed_spawn_closed(uv_handle_t *handle)
{
	msd_process_unref(handle->data);
}

/* The worker is on the far side of the trust line: its frames are bounded like a
 * client's, and it may pass segments. */
static msd_err open_channel(struct msd_process *p, struct ends *e, struct msd_diag *d)
{
	const struct msd_conn_limits limits = {
		.max_body_bytes = MSD_MAX_REPLY_BODY_BYTES,
		.max_payload_bytes = 0,
		.max_queued_bytes = UINT64_MAX,
		.takes_fds = true,
	};
	int fd = e->channel[0];

	e->channel[0] = -1;
	return msd_conn_open(&p->channel, &p->server->wire, fd, &channel_ops, &limits,
			     p, d);
}

msd_err msd_process_spawn(struct msd_replica *rep, struct msd_process **ret,
			  struct msd_diag *d)
{
	struct msd_process *p = calloc(1, sizeof(*p));
	struct ends e;

	if (p == NULL)
		return msd_diag_set(d, MSD_NOMEM, "worker: out of memory");
	p->server = rep->module->server;
	p->replica = rep;
	p->refs = 1;
	p->release_timer.on_due = on_release_due;
	p->exit_timer.on_due = on_exit_due;
	p->handle.data = p;
	p->log_poll.data = p;
	msd_segmap_init(&p->out);
	msd_err err = ends_open(&e, d);
	if (err != MSD_OK) {
		msd_process_unref(p);
		return err;
	}
	err = exec_worker(p, &e, d);
	if (err != MSD_OK) {
		ends_close(&e);
		uv_close((uv_handle_t *)&p->handle, on_failed_spawn_closed);
		return err;
	}
	p->log_fd = e.log[0];
	e.log[0] = -1;
	msd_process_ref(p); /* the handles' */
	(void)uv_poll_init(&p->server->loop, &p->log_poll, p->log_fd);
	(void)uv_poll_start(&p->log_poll, UV_READABLE, on_log);
	err = open_channel(p, &e, d);
	ends_close(&e);
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

	msd_deadline_clear(&p->server->deadlines, &p->release_timer);
	if (p->n_releases == 0 || p->channel.is_closing)
		return;
	o = msd_out_new();
	if (o == NULL)
		return; /* they stay batched */
	msd_body_begin_notification(&o->body, "worker.release");
	msd_pack_array(&o->body, p->n_releases * 2u);
	msd_buf_put(&o->body, p->releases.p, p->releases.n);
	p->releases.n = 0;
	p->n_releases = 0;
	p->release_bytes = 0;
	msd_conn_send(&p->channel, o);
}

/*
 * A release of its own would wake the worker once more per call. So it waits for the
 * next request, unless much memory is waiting or nothing comes for a while.
 */
void msd_process_release(struct msd_process *p, uint16_t segment, uint64_t offset,
			 uint64_t bytes)
{
	if (p->has_exited || p->channel.is_closing)
		return;
	msd_pack_uint(&p->releases, segment);
	msd_pack_uint(&p->releases, offset);
	p->n_releases++;
	p->release_bytes += bytes;
	if (p->release_bytes > RELEASE_EAGER_BYTES)
		msd_process_flush_releases(p);
	else if (p->release_timer.slot == 0)
		(void)msd_deadline_set(&p->server->deadlines, &p->release_timer,
				       RELEASE_LATEST_MS);
}

#define LAST_LINES 2

/* The last lines often say why: the module's own and the crash handler's. */
static void describe_words(const struct msd_process *p, struct msd_buf *out)
{
	size_t end = p->n_words;
	int lines = 0;

	while (end > 0 && (p->words[end - 1] == '\n' || p->words[end - 1] == '\r'))
		end--;
	size_t start = end;
	while (start > 0 && (p->words[start - 1] != '\n' || ++lines < LAST_LINES))
		start--;
	if (end > start)
		msd_buf_printf(out, "; last words: %.*s", (int)(end - start),
			       p->words + start);
}

void msd_process_describe_end(const struct msd_process *p, struct msd_buf *out)
{
	if (p->kill_reason[0] != '\0' && p->term_signal == SIGKILL)
		msd_buf_printf(out, "killed: %s", p->kill_reason);
	else if (p->term_signal != 0)
		msd_buf_printf(out, "signal %s",
			       sigabbrev_np(p->term_signal) != NULL
				       ? sigabbrev_np(p->term_signal)
				       : "unknown");
	else
		msd_buf_printf(out, "exit status %d", (int)p->exit_status);
	describe_words(p, out);
}
