#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "daemon/limits.h"
#include "daemon/log.h"
#include "daemon/segments/ledger.h"
#include "daemon/segments/segpool.h"
#include "daemon/supervisor/module/workers/process_parts.h"
#include "daemon/supervisor/module/workers/segment_pass.h"
#include "proto/value.h"

/*
 * Happy path:
 *   - The process is started (process_start.c), or taken over (handover.c).
 *   - Frames and output go to the replica.
 *   - msd_process_kill(); on_child_exit; the channel is closed; the log is drained:
 *     the replica is notified of the loss, once.
 *   - msd_process_leave(): the same, but the process lives on.
 *
 * Failures:
 *   - It exits by itself: read the rest of channel and log, then report the loss.
 *   - It closes its channel, or refuses its artifact: kill it unless it exits within
 *     EXIT_MS; on_child_exit reports the loss.
 *   - A child of it keeps the channel open: on_child_exit is enough.
 *   - It breaks the protocol: the channel closes with that error; kill it at once.
 */

#define RELEASE_EAGER_BYTES (16u << 20) /* worth a wake-up */
#define RELEASE_LATEST_MS 50
#define COOL_AFTER_BYTES (512u << 20) /* docs/internals/decisions.md has the cost */
/* Per notification, far below the reader's limit (MSD_MAX_OBJECTS). */
#define RELEASES_PER_FRAME 8192u
/*
 * A dying process closes its channel shortly before its exit status tells the cause.
 * On a loaded machine this takes long, and a process killed in between would seem to
 * die of our signal.
 */
#define EXIT_MS 1000

void msd_process_ref(struct msd_process *p)
{
	p->refs++;
}

void msd_process_unref(struct msd_process *p)
{
	if (p == NULL || --p->refs > 0)
		return;
	msd_handover_ends_cool(&p->warm, p->registry);
	msd_segmap_finish(&p->out);
	msd_memory_finish(&p->answers);
	msd_buf_finish(&p->releases);
	if (p->ledger != NULL)
		(void)munmap(p->ledger, sizeof(*p->ledger));
	free(p->ledger_seen);
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
	struct msd_module_registry *registry = p->registry;

	msd_process_unref(p);
	registry->on_gone(registry);
}

/* If both the channel and the process have ended, notify the replica, then close the
 * rest. */
static void finish_if_over(struct msd_process *p)
{
	struct msd_child *child = p->child;

	if (child == NULL || !child->has_exited || !p->is_channel_closed)
		return;
	msd_child_read_output(child);
	msd_deadline_clear(p->registry->deadlines, &p->release_timer);
	msd_deadline_clear(p->registry->deadlines, &p->exit_timer);
	msd_segment_pass_forget(p);
	msd_handover_ends_cool(&p->warm, p->registry);
	if (p->replica != NULL)
		p->ops->on_lost(p->replica);
	p->child = NULL;
	if (msd_deadline_is_set(&p->left_timer)) { /* nothing left to wait for */
		msd_deadline_clear(p->registry->deadlines, &p->left_timer);
		p->left_timer.on_due(&p->left_timer);
	}
	msd_child_close(child);
}

static void on_child_exit(void *user)
{
	struct msd_process *p = user;

	/* Answers that it wrote before it died are valid. */
	if (!p->is_channel_closed)
		msd_conn_hear_out(&p->channel, MSD_OK, "the process exited");
	finish_if_over(p);
}

const struct msd_child_ops msd_process_child_ops = {
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

void msd_process_end_in(struct msd_process *p, uint64_t in_ms, const char *reason)
{
	p->exit_reason = reason;
	msd_deadline_set(p->registry->deadlines, &p->exit_timer, in_ms);
}

void msd_process_await_exit(struct msd_process *p, const char *reason)
{
	if (msd_process_is_running(p) && !msd_deadline_is_set(&p->exit_timer))
		msd_process_end_in(p, EXIT_MS, reason);
}

bool msd_process_leave(struct msd_process *p)
{
	if (!p->warm.is_kept || !msd_process_is_running(p) ||
	    !msd_child_leave(p->child))
		return false;
	p->warm.is_kept = false; /* the service manager keeps it from here on */
	msd_conn_close(&p->channel, MSD_OK, "the next daemon takes it over");
	return true;
}

static void kill_for_breach(struct msd_process *p, const char *why)
{
	(void)snprintf(p->breach, sizeof(p->breach), "it broke the protocol: %s", why);
	msd_process_kill(p, p->breach);
}

/* A process that broke the protocol may have exited before it was killed. */
void msd_process_describe_end(const struct msd_process *p, struct msd_buf *out)
{
	if (p->breach[0] != '\0' && !msd_child_was_killed(p->child))
		msd_buf_printf(out, "%s; ", p->breach);
	msd_child_describe_end(p->child, out);
}

static void on_channel_closed(struct msd_conn *c, msd_err err, const char *why)
{
	struct msd_process *p = c->user;

	p->is_channel_closed = true;
	if (err == MSD_PROTOCOL || err == MSD_TOO_LARGE) {
		msd_log(MSD_LOG_WARN, "worker_protocol", "pid=%d why=\"%s\"",
			(int)msd_child_pid(p->child), why);
		kill_for_breach(p, why);
	} else {
		msd_process_await_exit(p, "it closed its channel");
	}
	finish_if_over(p);
}

const struct msd_conn_ops msd_process_channel_ops = {
	.on_frame = on_channel_frame,
	.on_closed = on_channel_closed,
};

static void on_release_due(struct msd_deadline *node)
{
	msd_process_flush_releases(
		MSD_CONTAINER_OF(node, struct msd_process, release_timer));
}

struct msd_process *msd_process_new(struct msd_module_registry *registry,
				    const struct msd_process_ops *ops,
				    struct msd_replica *owner)
{
	struct msd_process *p = calloc(1, sizeof(*p));

	if (p == NULL)
		return NULL;
	p->registry = registry;
	p->ops = ops;
	p->replica = owner;
	p->refs = 1;
	p->warm.door = p->warm.lifeline = -1;
	msd_list_init(&p->lent);
	msd_list_init(&p->directs);
	msd_list_init(&p->left);
	p->release_timer.on_due = on_release_due;
	p->exit_timer.on_due = on_exit_due;
	msd_segmap_init(&p->out,
			msd_segpool_most_addresses(registry->limits->max_memory));
	return p;
}

/* Build the message while slots are released, so that sending only copies it: its
 * head, the number in two bytes, then the pairs. */
static void begin_releases(struct msd_buf *releases)
{
	static const uint8_t no_number[] = {0xdc, 0, 0};

	msd_body_begin_notification(releases, "worker.release");
	msd_buf_put(releases, no_number, sizeof(no_number));
}

static bool send_releases(struct msd_process *p)
{
	const uint32_t n = p->n_releases * 2;
	uint8_t *number = p->releases.p + p->releases_at - 2;

	number[0] = (uint8_t)(n >> 8);
	number[1] = (uint8_t)n;
	uint8_t *at = msd_conn_put(&p->channel, p->releases.n, NULL);
	if (at != NULL) {
		memcpy(at, p->releases.p, p->releases.n);
		return true;
	}
	struct msd_out *o = msd_out_new();
	if (o == NULL)
		return false;
	msd_buf_put(&o->body, p->releases.p, p->releases.n);
	msd_conn_send(&p->channel, o);
	return true;
}

/* The timer keeps running: to stop it at each call costs more than a useless expiry. */
void msd_process_flush_releases(struct msd_process *p)
{
	if (p->n_releases == 0 || p->channel.is_closing)
		return;
	if (p->releases.bad || !send_releases(p)) {
		/* Without the message the worker would lose these slots. */
		msd_process_kill(p, "there was no memory to send it the free segments");
		return;
	}
	p->releases.n = 0;
	p->n_releases = 0;
	p->release_bytes = 0;
}

void msd_process_cool(struct msd_process *p)
{
	if (p->sent_bytes == 0)
		return;
	msd_segmap_cool(&p->out);
	p->sent_bytes = 0;
}

/* A separate release would wake the worker once more per call. So it waits for the
 * next request, unless much memory waits or no request follows for a while. */
void msd_process_release(struct msd_process *p, uint16_t segment, uint64_t offset,
			 uint64_t bytes)
{
	p->sent_bytes += bytes;
	if (p->sent_bytes > COOL_AFTER_BYTES)
		msd_process_cool(p);
	if (!msd_process_is_running(p) || p->channel.is_closing)
		return;
	if (p->n_releases == 0) {
		begin_releases(&p->releases);
		p->releases_at = p->releases.n;
	}
	msd_pack_uint(&p->releases, segment);
	msd_pack_uint(&p->releases, offset);
	p->n_releases++;
	p->release_bytes += bytes;
	if (p->release_bytes > RELEASE_EAGER_BYTES ||
	    p->n_releases >= RELEASES_PER_FRAME) {
		msd_process_flush_releases(p);
	} else if (!msd_deadline_is_set(&p->release_timer)) {
		msd_deadline_set(p->registry->deadlines, &p->release_timer,
				 RELEASE_LATEST_MS);
	}
}
