#include "tests/daemon/worker/driver.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/frame.h"
#include "tests/support/pass_fd.h"

#define STEP_MS 120000 /* a step that takes longer hangs */

static void must(bool ok, const char *what)
{
	cr_assert(ok, "%s: %s", what, strerror(errno));
}

static int artifact_of(const char *path)
{
	char bytes[65536];
	int to = memfd_create("artifact", MFD_CLOEXEC);
	ssize_t n;

	if (path == NULL) {
		must(write(to, "junk", 4) == 4, "write");
		return to;
	}
	int from = open(path, O_RDONLY | O_CLOEXEC);
	must(from >= 0, path);
	while ((n = read(from, bytes, sizeof(bytes))) > 0)
		must(write(to, bytes, (size_t)n) == n, "write");
	(void)close(from);
	return to;
}

static void on_new_segment(void *ctx, uint16_t index, int fd, uint64_t bytes)
{
	struct msd_buf b = {0};

	msd_body_begin_notification(&b, "worker.segment");
	msd_pack_array(&b, 3);
	msd_pack_cstr(&b, "in");
	msd_pack_uint(&b, index);
	msd_pack_uint(&b, bytes);
	if (bytes > 0) {
		driver_send_fd(ctx, &b, fd);
	} else {
		driver_send(ctx, &b);
	}
}

static void exec_worker(int channel, int artifact, int log)
{
	/* First out of the way: a source may be another's target. */
	int channel_up = fcntl(channel, F_DUPFD_CLOEXEC, 20);
	int artifact_up = fcntl(artifact, F_DUPFD_CLOEXEC, 20);

	(void)dup2(log, STDOUT_FILENO);
	(void)dup2(log, STDERR_FILENO);
	(void)dup2(channel_up, 3);
	(void)dup2(artifact_up, 4);
	(void)execl(MSD_WORKER, MSD_WORKER, "--name", "test", (char *)NULL);
	_exit(99);
}

void driver_start(struct driver *w, const char *path)
{
	int channel[2];
	int log[2];
	int artifact = artifact_of(path);

	*w = (struct driver){.pid = -1};
	must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, channel) == 0,
	     "socketpair");
	must(pipe2(log, O_CLOEXEC) == 0, "pipe");
	w->pid = fork();
	must(w->pid >= 0, "fork");
	if (w->pid == 0)
		exec_worker(channel[1], artifact, log[1]);
	(void)close(channel[1]);
	(void)close(log[1]);
	(void)close(artifact);
	w->fd = channel[0];
	w->log_fd = log[0];
	msd_segpool_init(&w->in, 1ull << 30, on_new_segment, w);
	msd_segmap_init(&w->out, 0);
}

void driver_send_open(struct driver *w)
{
	struct msd_buf b = {0};

	(void)driver_begin(w, &b, "worker.open", false);
	msd_pack_array(&b, 1);
	msd_pack_map(&b, 4);
	msd_pack_cstr(&b, "name");
	msd_pack_cstr(&b, "m");
	msd_pack_cstr(&b, "file");
	msd_pack_cstr(&b, "fixture.so");
	msd_pack_cstr(&b, "threads");
	msd_pack_int(&b, 1);
	msd_pack_cstr(&b, "max_out");
	msd_pack_int(&b, 64 << 20);
	driver_send(w, &b);
	(void)driver_receive(w);
}

void driver_open(struct driver *w, const char *path)
{
	driver_start(w, path);
	driver_send_open(w);
	cr_assert_str_eq(driver_error(w), "OK", "worker.open: %s", driver_message(w));
}

int driver_wait(struct driver *w)
{
	int status;

	must(waitpid(w->pid, &status, 0) == w->pid, "waitpid");
	if (w->fd >= 0)
		(void)close(w->fd);
	w->fd = -1;
	msd_segpool_finish(&w->in);
	msd_segmap_finish(&w->out);
	free(w->frame);
	w->frame = NULL;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

int driver_end(struct driver *w)
{
	(void)close(w->fd);
	w->fd = -1;
	return driver_wait(w);
}

const char *driver_log(struct driver *w)
{
	static char text[65536];
	size_t n = 0;
	ssize_t got;

	while (n < sizeof(text) - 1 &&
	       (got = read(w->log_fd, text + n, sizeof(text) - 1 - n)) > 0)
		n += (size_t)got;
	text[n] = '\0';
	(void)close(w->log_fd);
	return text;
}

uint64_t driver_begin(struct driver *w, struct msd_buf *b, const char *method,
		      bool has_options)
{
	msd_body_begin_request(b, ++w->last_id, method, has_options);
	return w->last_id;
}

void driver_send_fd(struct driver *w, struct msd_buf *b, int fd)
{
	uint8_t head[MSD_FRAME_HEADER_BYTES];
	struct iovec iov[2] = {{head, sizeof(head)}, {b->p, b->n}};

	cr_assert_not(b->bad);
	msd_frame_write((struct msd_frame){.body_bytes = (uint32_t)b->n}, head);
	must(pass_fd(w->fd, iov, 2, fd, 0) == (ssize_t)(sizeof(head) + b->n),
	     "sendmsg");
	msd_buf_finish(b);
	*b = (struct msd_buf){0};
}

void driver_send(struct driver *w, struct msd_buf *b)
{
	driver_send_fd(w, b, -1);
}

/* Exactly @n bytes and a descriptor that comes with them; false at the end. */
static bool read_exactly(struct driver *w, uint8_t *p, size_t n, int *ret_fd)
{
	while (n > 0) {
		struct pollfd ready = {.fd = w->fd, .events = POLLIN};
		must(poll(&ready, 1, STEP_MS) == 1, "no answer in time");
		struct iovec iov = {p, n};
		union {
			char bytes[CMSG_SPACE(sizeof(int))];
			struct cmsghdr align;
		} control = {{0}};
		struct msghdr m = {.msg_iov = &iov,
				   .msg_iovlen = 1,
				   .msg_control = control.bytes,
				   .msg_controllen = sizeof(control.bytes)};
		ssize_t got = recvmsg(w->fd, &m, MSG_CMSG_CLOEXEC);
		if (got <= 0)
			return false;
		struct cmsghdr *h = CMSG_FIRSTHDR(&m);
		if (h != NULL && h->cmsg_type == SCM_RIGHTS)
			memcpy(ret_fd, CMSG_DATA(h), sizeof(int));
		p += got;
		n -= (size_t)got;
	}
	return true;
}

static bool read_frame(struct driver *w, int *ret_fd)
{
	uint8_t head[MSD_FRAME_HEADER_BYTES];
	struct msd_frame f;
	struct msd_diag d = {0};

	if (!read_exactly(w, head, sizeof(head), ret_fd))
		return false;
	cr_assert_eq(msd_frame_read(head, MSD_MAX_BODY_BYTES, 0, &f, &d), MSD_OK, "%s",
		     msd_diag_text(&d));
	free(w->frame);
	w->frame = malloc(f.body_bytes);
	if (!read_exactly(w, w->frame, f.body_bytes, ret_fd))
		return false;
	cr_assert_eq(msd_body_read((struct msd_span){w->frame, f.body_bytes}, NULL,
				   &w->body, &d),
		     MSD_OK, "%s", msd_diag_text(&d));
	return true;
}

static void take_segment(struct driver *w, int fd)
{
	struct msd_cur c;
	uint32_t n;
	struct msd_wire_value dir, index, bytes;
	struct msd_diag d = {0};

	cr_assert(msd_array_open(w->body.params, &c, &n) && n == 3);
	cr_assert_eq(msd_value_read(&c, &dir, &d), MSD_OK);
	cr_assert_eq(msd_value_read(&c, &index, &d), MSD_OK);
	cr_assert_eq(msd_value_read(&c, &bytes, &d), MSD_OK);
	cr_assert(msd_span_is(dir.as.str, "out"));
	msd_err err = bytes.as.i > 0
			      ? msd_segmap_add(&w->out, (uint16_t)index.as.i, fd,
					       (uint64_t)bytes.as.i, false, &d)
			      : msd_segmap_remove(&w->out, (uint16_t)index.as.i, &d);
	cr_assert_eq(err, MSD_OK, "%s", msd_diag_text(&d));
}

static bool receive(struct driver *w)
{
	for (;;) {
		int fd = -1;
		if (!read_frame(w, &fd))
			return false;
		if (w->body.kind == MSD_RESPONSE)
			return true;
		take_segment(w, fd);
	}
}

uint64_t driver_receive(struct driver *w)
{
	cr_assert(receive(w), "the worker has closed the channel");
	return w->body.id;
}

bool driver_is_lost(struct driver *w)
{
	return !receive(w);
}

static const char *error_text(struct driver *w, bool name)
{
	static char text[2][70000];
	struct msd_body_error e = {0};

	if (!msd_body_error_read(w->body.error, &e))
		return name ? "OK" : "";
	struct msd_span s = name ? e.name : e.message;
	(void)snprintf(text[name], sizeof(text[name]), "%.*s", (int)s.n,
		       (const char *)s.p);
	return text[name];
}

const char *driver_error(struct driver *w)
{
	return error_text(w, true);
}

const char *driver_message(struct driver *w)
{
	return error_text(w, false);
}
