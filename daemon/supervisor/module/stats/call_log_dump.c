#include "daemon/supervisor/module/stats/call_log_dump.h"

#include "daemon/log.h"
#include "daemon/stream/wire.h"
#include "daemon/supervisor/module/stats/call_log.h"
#include "daemon/supervisor/module/stats/call_stats.h"

#define LINES_PER_TURN 64u /* about 12 KiB, of the 64 KiB that the log keeps */
#define REST_MS 20u
#define LOST_LINES 8u
#define LOST_LOOKS 256u /* back from the latest; other modules have calls, too */
#define LOST_REST_MS 1000u

static void tell_one(const struct msd_module_registry *registry,
		     const struct msd_call_slot *slot)
{
	const struct msd_logged_call *r = &slot->call;
	const uint64_t ago_ns = msd_wire_now_ns(registry->wire) - r->end_ns;
	char who[MSD_PEER_TEXT_BYTES];

	msd_log(MSD_LOG_INFO, "call_log_dump",
		"number=%llu ago_us=%llu name=%s function=\"%s\" code=%s peer=\"%s\" "
		"read_us=%llu queue_us=%llu worker_us=%llu run_us=%llu",
		(unsigned long long)slot->number, (unsigned long long)ago_ns / 1000,
		r->call_stats->name, msd_logged_function(r),
		msd_call_stats_code_name(r->code), msd_peer_id_text(r->who, who),
		(unsigned long long)r->spent_ns[MSD_STAGE_READ] / 1000,
		(unsigned long long)r->spent_ns[MSD_STAGE_QUEUE] / 1000,
		(unsigned long long)r->spent_ns[MSD_STAGE_WORKER] / 1000,
		(unsigned long long)r->spent_ns[MSD_STAGE_RUN] / 1000);
}

static void on_tell(struct msd_deadline *node)
{
	struct msd_call_log *rec = MSD_CONTAINER_OF(node, struct msd_call_log, tell);
	struct msd_module_registry *registry =
		MSD_CONTAINER_OF(rec, struct msd_module_registry, call_log);
	const struct msd_call_slot *slot = msd_call_log_find(rec, rec->telling);
	unsigned n = 0;

	for (; slot != NULL && slot->number < rec->tell_end && n < LINES_PER_TURN;
	     n++) {
		tell_one(registry, slot);
		rec->telling = slot->number + 1;
		slot = msd_call_log_after(rec, slot);
	}
	if (n == LINES_PER_TURN) {
		msd_deadline_set(registry->deadlines, &rec->tell, REST_MS);
	} else {
		msd_log(MSD_LOG_INFO, "call_log_dump", "end=%llu",
			(unsigned long long)rec->tell_end);
	}
}

void msd_call_log_dump_tell(struct msd_module_registry *registry)
{
	struct msd_call_log *rec = &registry->call_log;

	if (msd_deadline_is_set(&rec->tell))
		return;
	rec->telling = 0;
	rec->tell_end = rec->total;
	rec->tell.on_due = on_tell;
	msd_deadline_set(registry->deadlines, &rec->tell, 0);
}

void msd_call_log_dump_tell_lost(const struct msd_worker_group *group)
{
	struct msd_call_log *rec = &group->registry->call_log;
	const uint64_t now_ms = uv_now(group->registry->loop);
	const uint64_t from = rec->total > LOST_LOOKS ? rec->total - LOST_LOOKS : 0;
	const struct msd_call_slot *slot, *found[LOST_LINES];
	unsigned n = 0;

	if (rec->told_ms != 0 && now_ms - rec->told_ms < LOST_REST_MS)
		return;
	rec->told_ms = now_ms;
	for (slot = msd_call_log_find(rec, from); slot != NULL;
	     slot = msd_call_log_after(rec, slot)) {
		if (slot->call.call_stats == group->call_stats)
			found[n++ % LOST_LINES] = slot;
	}
	for (unsigned i = n > LOST_LINES ? n - LOST_LINES : 0; i < n; i++)
		tell_one(group->registry, found[i % LOST_LINES]);
}
