/*
 * Happy path: a call gets an unused entry, or the oldest one of its own lane or of
 * the largest lane. Failures: without memory no log is kept, and slow calls are
 * logged without their arguments.
 */
#include "daemon/supervisor/module/stats/call_log.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/supervisor/module/stats/call_shapes.h"
#include "daemon/supervisor/module/stats/call_stats.h"

static struct msd_call_slot *slot_of(struct msd_list *link)
{
	return MSD_CONTAINER_OF(link, struct msd_call_slot, link);
}

void msd_call_log_init(struct msd_call_log *log, enum msd_call_log_kind kind)
{
	const uint32_t n = kind == MSD_ALL_CALLS ? MSD_LOGGED_CALLS : MSD_SLOW_CALLS;

	*log = (struct msd_call_log){.slots = calloc(n, sizeof(*log->slots)),
				     .n_slots = n,
				     .kind = kind,
				     .most = &log->left};
	msd_list_init(&log->calls);
	msd_list_init(&log->lanes);
	msd_waiters_init(&log->followers, NULL, NULL);
}

void msd_call_log_finish(struct msd_call_log *log)
{
	for (uint32_t i = 0; i < log->n_used; i++) {
		msd_call_stats_unref(log->slots[i].call.call_stats);
		free(log->slots[i].arguments);
	}
	free(log->slots);
	log->slots = NULL;
	log->n_used = 0;
}

static void close_lane(struct msd_call_log *log, struct msd_call_lane *lane)
{
	msd_list_remove(&lane->link);
	log->n_lanes--;
	if (log->most == lane)
		log->most = &log->left;
}

static void open_lane(struct msd_call_log *log, struct msd_call_lane *lane)
{
	msd_list_append(&log->lanes, &lane->link);
	log->n_lanes++;
}

static void append(struct msd_call_log *log, struct msd_call_lane *lane,
		   struct msd_call_slot *slot)
{
	if (lane->n++ > 0) {
		slot->next = lane->last->next;
		lane->last->next = slot;
	} else {
		slot->next = slot;
		open_lane(log, lane);
	}
	lane->last = slot;
}

/* Take @slot out of the order of all calls; it is appended next. */
static void unlink_slot(struct msd_call_slot *slot)
{
	slot->link.prev->next = slot->link.next;
	slot->link.next->prev = slot->link.prev;
}

/* Drop the oldest call of @lane. */
static struct msd_call_slot *drop(struct msd_call_log *log, struct msd_call_lane *lane)
{
	struct msd_call_slot *slot = lane->last->next;

	unlink_slot(slot);
	lane->last->next = slot->next;
	lane->dropped_end = slot->number + 1;
	if (--lane->n == 0)
		close_lane(log, lane);
	return slot;
}

static struct msd_call_lane *find_largest(const struct msd_call_log *log)
{
	struct msd_call_lane *largest = NULL;

	MSD_LIST_EACH (it, &log->lanes) {
		struct msd_call_lane *lane =
			MSD_CONTAINER_OF(it, struct msd_call_lane, link);
		if (largest == NULL || lane->n > largest->n)
			largest = lane;
	}
	return largest;
}

/* An entry for @lane. A lane below its equal share is never the largest, so it grows up
 * to that share. Searches are rare: each lets a lane grow. */
static struct msd_call_slot *take(struct msd_call_log *log, struct msd_call_lane *lane)
{
	if (log->n_used < log->n_slots)
		return &log->slots[log->n_used++];
	if (lane->n >= log->most->n) {
		const bool has_share = lane->n > (log->n_slots - 1) / log->n_lanes;
		log->most = has_share ? lane : find_largest(log);
	}
	return drop(log, log->most);
}

struct msd_logged_call *msd_call_log_next(struct msd_call_log *log,
					  struct msd_deadlines *ds,
					  struct msd_call_stats *call_stats)
{
	struct msd_call_lane *lane = &call_stats->lanes[log->kind];

	if (log->slots == NULL)
		return NULL;
	struct msd_call_slot *slot;
	if (lane != log->most) {
		slot = take(log, lane);
		append(log, lane, slot);
	} else { /* the usual case: the oldest call becomes the latest */
		slot = lane->last->next;
		lane->last = slot;
		lane->dropped_end = slot->number + 1;
		unlink_slot(slot);
	}
	slot->number = log->total++;
	msd_list_append(&log->calls, &slot->link);
	if (slot->call.call_stats != call_stats) { /* calls repeat */
		msd_call_stats_unref(slot->call.call_stats);
		slot->call.call_stats = msd_call_stats_ref(call_stats);
	}
	if (!msd_list_is_empty(&log->followers.waiting) &&
	    !msd_deadline_is_set(&log->batch))
		msd_deadline_set(ds, &log->batch, MSD_CALL_LOG_BATCH_MS);
	return &slot->call;
}

void msd_call_log_add_slow(struct msd_call_log *log, const struct msd_logged_call *call,
			   struct msd_span params)
{
	struct msd_logged_call *at = msd_call_log_next(log, NULL, call->call_stats);
	char text[MSD_CALL_SHAPES_BYTES];

	if (at == NULL)
		return;
	struct msd_call_slot *slot = MSD_CONTAINER_OF(at, struct msd_call_slot, call);
	*at = *call;
	free(slot->arguments);
	slot->arguments = strdup(msd_call_shapes_text(params, text));
}

void msd_call_log_leave(struct msd_call_log *log, struct msd_call_stats *call_stats)
{
	struct msd_call_lane *lane =
		call_stats != NULL ? &call_stats->lanes[log->kind] : NULL;

	if (lane == NULL || lane->n == 0)
		return;
	if (log->left.n == 0) {
		open_lane(log, &log->left);
	} else { /* two circles become one */
		struct msd_call_slot *first = lane->last->next;
		lane->last->next = log->left.last->next;
		log->left.last->next = first;
	}
	log->left.last = lane->last;
	log->left.n += lane->n;
	lane->n = 0;
	close_lane(log, lane);
}

const struct msd_call_slot *msd_call_log_find(const struct msd_call_log *log,
					      uint64_t from)
{
	const struct msd_call_slot *found = NULL;

	for (struct msd_list *it = log->calls.prev;
	     it != &log->calls && slot_of(it)->number >= from; it = it->prev)
		found = slot_of(it);
	return found;
}

const struct msd_call_slot *msd_call_log_after(const struct msd_call_log *log,
					       const struct msd_call_slot *slot)
{
	return slot->link.next != &log->calls ? slot_of(slot->link.next) : NULL;
}

const char *msd_logged_function(const struct msd_logged_call *record)
{
	const char *name = record->call_stats->rows[record->row].name;

	return name != NULL ? name : MSD_CALL_STATS_OTHER_NAME;
}

uint64_t msd_logged_total_ns(const struct msd_logged_call *record)
{
	uint64_t ns = 0;

	for (unsigned i = 0; i < MSD_STAGE_COUNT; i++)
		ns += record->spent_ns[i];
	return ns;
}
