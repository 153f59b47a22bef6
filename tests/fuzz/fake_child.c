#include "tests/fuzz/fake_child.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proto/body.h"
#include "proto/frame.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/pass_fd.h"

struct msd_list fakes = {&fakes, &fakes};
bool fake_may_start = true;
static unsigned n_started;

static struct fake *fake_of(struct msd_list *link)
{
	return MSD_CONTAINER_OF(link, struct fake, link);
}

msd_err msd_child_spawn(struct msd_reaper *reaper, const struct msd_child_how *how,
			const struct msd_child_ops *ops, void *user,
			struct msd_child **ret, struct msd_diag *d)
{
	struct fake *f = fake_may_start ? calloc(1, sizeof(*f)) : NULL;

	(void)reaper;
	if (f == NULL)
		return msd_diag_set(d, MSD_IO, "no process");
	f->child = (struct msd_child){
		.ward.pid = 1 << 30, .pidfd = -1, .ops = ops, .user = user};
	f->channel = how->n_fds > 0 ? fcntl(how->fds[0], F_DUPFD_CLOEXEC, 0) : -1;
	f->number = n_started++;
	msd_list_append(&fakes, &f->link);
	*ret = &f->child;
	return MSD_OK;
}

/* Nobody is kept here. */
msd_err msd_child_adopt(struct msd_reaper *reaper, const struct msd_child_found *found,
			const struct msd_child_ops *ops, void *user,
			struct msd_child **ret, struct msd_diag *d)
{
	(void)reaper, (void)found, (void)ops, (void)user, (void)ret;
	return msd_diag_set(d, MSD_IO, "no process");
}

bool msd_child_leave(struct msd_child *c)
{
	(void)c;
	return false;
}

void msd_child_kill(struct msd_child *c, const char *reason)
{
	(void)snprintf(c->kill_reason, sizeof(c->kill_reason), "%s", reason);
	MSD_CONTAINER_OF(c, struct fake, child)->is_killed = true;
}

bool msd_child_was_killed(const struct msd_child *c)
{
	return c->kill_reason[0] != '\0';
}

void msd_child_read_output(struct msd_child *c)
{
	(void)c;
}

void msd_child_describe_end(const struct msd_child *c, struct msd_buf *out)
{
	msd_buf_printf(out, "a fake: %s", c->kill_reason);
}

void msd_child_close(struct msd_child *c)
{
	MUST(c->has_exited);
	MSD_CONTAINER_OF(c, struct fake, child)->is_closing = true;
}

struct fake *fake_at(unsigned i)
{
	unsigned n = 0;

	MSD_LIST_EACH (it, &fakes) {
		n += fake_of(it)->child.has_exited ? 0 : 1;
	}
	if (n == 0)
		return NULL;
	i %= n;
	MSD_LIST_EACH (it, &fakes) {
		if (!fake_of(it)->child.has_exited && i-- == 0)
			return fake_of(it);
	}
	return NULL;
}

void fake_exit(struct fake *f)
{
	f->child.has_exited = true;
	if (f->channel >= 0)
		(void)close(f->channel);
	f->channel = -1;
	f->child.ops->on_exit(f->child.user);
}

uint64_t fake_take(struct fake *f, unsigned i)
{
	i %= f->n_open;
	const uint64_t id = f->open[i];

	f->n_open--;
	memmove(f->open + i, f->open + i + 1, (f->n_open - i) * sizeof(f->open[0]));
	return id;
}

/* One frame of the supervisor: it speaks as CHANNEL.md has it. */
static void take_frame(struct fake *f, const uint8_t *body, size_t n)
{
	struct msd_body b;

	MUST(msd_body_read((struct msd_span){body, n}, NULL, &b, NULL) == MSD_OK);
	MUST(b.kind != MSD_RESPONSE);
	if (b.kind == MSD_NOTIFICATION)
		return;
	for (unsigned i = 0; i < f->n_open; i++)
		MUST(f->open[i] != b.id);
	if (f->n_open < FAKE_MAX_OPEN)
		f->open[f->n_open++] = b.id;
}

static size_t take_frames(struct fake *f)
{
	size_t at = 0;

	while (f->n_coming - at >= MSD_FRAME_HEADER_BYTES) {
		struct msd_frame frame;
		MUST(msd_frame_read(f->coming + at, MSD_MAX_BODY_BYTES, 0, &frame,
				    NULL) == MSD_OK);
		if (f->n_coming - at - MSD_FRAME_HEADER_BYTES < frame.body_bytes)
			break;
		take_frame(f, f->coming + at + MSD_FRAME_HEADER_BYTES,
			   frame.body_bytes);
		at += MSD_FRAME_HEADER_BYTES + frame.body_bytes;
	}
	return at;
}

/* Descriptors that come with it are of no use to a fake: not asking for them makes the
 * kernel drop them. */
static void take_in(struct fake *f)
{
	uint8_t bytes[4096];
	ssize_t n;

	while (f->channel >= 0 &&
	       (n = recv(f->channel, bytes, sizeof(bytes), MSG_DONTWAIT)) > 0) {
		uint8_t *more = realloc(f->coming, f->n_coming + (size_t)n);
		MUST(more != NULL);
		memcpy(more + f->n_coming, bytes, (size_t)n);
		f->coming = more;
		f->n_coming += (size_t)n;
		const size_t used = take_frames(f);
		f->n_coming -= used;
		memmove(f->coming, f->coming + used, f->n_coming);
	}
}

void fakes_settle(void)
{
	MSD_LIST_EACH_SAFE (it, &fakes) {
		struct fake *f = fake_of(it);
		if (!f->is_closing) {
			take_in(f);
			continue;
		}
		msd_list_remove(&f->link);
		if (f->child.ops->on_closed != NULL)
			f->child.ops->on_closed(f->child.user);
		free(f->coming);
		free(f);
	}
}

void fake_send(struct fake *f, const uint8_t *body, size_t n, int fd)
{
	uint8_t head[MSD_FRAME_HEADER_BYTES];
	struct iovec iov[2] = {{head, sizeof(head)}, {(uint8_t *)(uintptr_t)body, n}};

	if (f->channel < 0)
		return;
	msd_frame_write((struct msd_frame){.body_bytes = (uint32_t)n}, head);
	/* One that does not fit is not written at all or cut: a worker may do that. */
	(void)pass_fd(f->channel, iov, 2, fd, MSG_DONTWAIT);
}
