#include "daemon/supervisor/module/queue/peer_latency.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/grow.h"

static uint64_t next(uint64_t before, uint8_t n, uint64_t us)
{
	if (n == 0 || (n == 1 && us < before))
		return us;
	return (3 * before + us + 2) / 4; /* rounded: rises as it falls */
}

void msd_latency_estimate_note(struct msd_latency_estimate *pace, uint8_t place,
			       uint64_t exec_ns)
{
	uint64_t us = exec_ns / 1000 + 1;

	if (us > MSD_LATENCY_ESTIMATE_MOST_US)
		us = MSD_LATENCY_ESTIMATE_MOST_US;
	pace->us[place] = (uint32_t)next(pace->us[place], pace->n[place], us);
	if (pace->n[place] < 2)
		pace->n[place]++;
}

void msd_peer_latencies_finish(struct msd_peer_latencies *ps)
{
	free(ps->all);
	*ps = (struct msd_peer_latencies){0};
}

/* Make room for one more peer, if the table is not full and there is memory. */
static void grow(struct msd_peer_latencies *ps)
{
	if (ps->n < MSD_PEER_LATENCIES && msd_grow(&ps->all, ps->n, sizeof(*ps->all)))
		memset(&ps->all[ps->n++], 0, sizeof(*ps->all));
}

void msd_peer_latencies_note(struct msd_peer_latencies *ps, struct msd_peer_id who,
			     uint8_t place, uint64_t exec_ns)
{
	struct msd_peer_latency *p;

	if (msd_peer_table_find(ps->all, ps->n, sizeof(*p), who) == NULL)
		grow(ps);
	if (ps->n == 0)
		return;
	p = msd_peer_table_get(ps->all, ps->n, sizeof(*p), who, ++ps->n_noted);
	msd_latency_estimate_note(&p->pace, place, exec_ns);
}

uint32_t msd_peer_latencies_expect(const struct msd_peer_latencies *ps,
				   struct msd_peer_id who, uint8_t place)
{
	const struct msd_peer_latency *p =
		msd_peer_table_find(ps->all, ps->n, sizeof(*p), who);

	return p != NULL ? msd_latency_estimate_expect(&p->pace, place) : 0;
}
