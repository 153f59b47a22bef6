#include "daemon/stream/conn_timeout.h"

#include <stddef.h>

#define MAX_EVERY_MS 1000u
#define MIN_EVERY_MS 10u

void msd_conn_timeout_init(struct msd_conn_timeout *w, uint64_t now_ms)
{
	*w = (struct msd_conn_timeout){
		.opened_ms = now_ms, .owed_since_ms = now_ms, .quiet_since_ms = now_ms};
}

/* Time since @then_ms, which may be in the future: it is moved by the time that the
 * daemon did not run. */
static uint64_t since(uint64_t then_ms, const struct msd_conn_timeout_view *v)
{
	return then_ms < v->now_ms ? v->now_ms - then_ms : 0;
}

/*
 * A frame makes progress when it ends or receives enough bytes. While other
 * connections wait for its memory, only its end counts: a trickle would hold the
 * memory without limit.
 */
static bool goes_on(const struct msd_conn_timeout *w,
		    const struct msd_conn_timeout_view *v)
{
	return !v->is_owed || v->frames != w->frames ||
	       (!v->is_pressed &&
		v->bytes_in - w->bytes >= MSD_CONN_TIMEOUT_PROGRESS_BYTES);
}

static bool is_stalled(struct msd_conn_timeout *w,
		       const struct msd_conn_timeout_view *v, uint64_t limit_ms)
{
	if (!goes_on(w, v))
		return since(w->owed_since_ms, v) > limit_ms;
	w->frames = v->frames;
	w->bytes = v->bytes_in;
	w->owed_since_ms = v->now_ms;
	return false;
}

static bool is_silent(struct msd_conn_timeout *w, const struct msd_conn_timeout_view *v,
		      uint64_t limit_ms)
{
	if (v->used_ms > w->quiet_since_ms)
		w->quiet_since_ms = v->used_ms;
	if (!v->is_awaiting && v->queued_bytes == 0 && v->bytes_in == w->heard_bytes)
		return limit_ms > 0 && since(w->quiet_since_ms, v) > limit_ms;
	w->heard_bytes = v->bytes_in;
	w->quiet_since_ms = v->now_ms;
	return false;
}

/* Do not count the time when the daemon did not run: the peer may have read and
 * written then. */
static void forgive(struct msd_conn_timeout *w, const struct msd_conn_timeout_view *v)
{
	if (w->written_ms != v->last_progress_ms)
		w->forgiven_ms = 0;
	w->written_ms = v->last_progress_ms;
	w->forgiven_ms += v->away_ms;
	w->opened_ms += v->away_ms;
	w->owed_since_ms += v->away_ms;
	w->quiet_since_ms += v->away_ms;
}

const char *msd_conn_timeout_look(struct msd_conn_timeout *w,
				  const struct msd_conn_timeout_view *v,
				  const struct msd_limits *limits)
{
	forgive(w, v);
	const bool stalls = is_stalled(w, v, limits->read_stall_ms);
	const bool is_quiet = is_silent(w, v, limits->idle_ms);

	if (v->queued_bytes > 0 &&
	    since(v->last_progress_ms + w->forgiven_ms, v) > limits->write_stall_ms)
		return "does not read its replies (--write-stall)";
	if (v->frames == 0 && limits->first_frame_ms > 0 &&
	    since(w->opened_ms, v) > limits->first_frame_ms)
		return "has sent no whole frame since it was opened (--first-frame)";
	if (stalls && v->is_pressed) {
		return "others wait for the memory of a frame that takes too long "
		       "(--read-stall)";
	}
	if (stalls)
		return "started a frame and makes no progress (--read-stall)";
	return is_quiet ? "has been silent for too long (--idle)" : NULL;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return b > 0 && b < a ? b : a;
}

uint64_t msd_conn_timeout_every_ms(const struct msd_limits *limits)
{
	uint64_t ms = least(4u * MAX_EVERY_MS, limits->read_stall_ms);

	ms = least(ms, limits->write_stall_ms);
	ms = least(ms, limits->first_frame_ms);
	ms = least(ms, limits->idle_ms) / 4;
	return ms > MIN_EVERY_MS ? ms : MIN_EVERY_MS;
}
