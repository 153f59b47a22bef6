#include "daemon/supervisor/module/queue/peer_latency.h"

#include <stdlib.h>

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

void msd_peer_latencies_init(struct msd_peer_latencies *ps)
{
	*ps = (struct msd_peer_latencies){0};
	msd_list_init(&ps->all);
}

static struct msd_peer_latency *pace_of(struct msd_list *link)
{
	return MSD_CONTAINER_OF(link, struct msd_peer_latency, link);
}

void msd_peer_latencies_finish(struct msd_peer_latencies *ps)
{
	MSD_LIST_EACH_SAFE (it, &ps->all) {
		free(pace_of(it));
	}
	msd_peer_latencies_init(ps);
}

static struct msd_peer_latency *find(const struct msd_peer_latencies *ps,
				     struct msd_peer_id who)
{
	for (struct msd_list *it = ps->all.prev; it != &ps->all; it = it->prev) {
		if (msd_peer_id_is(pace_of(it)->who, who))
			return pace_of(it);
	}
	return NULL;
}

/* Return an entry for a new peer: a new one, or the one that was quiet longest. */
static struct msd_peer_latency *place_for(struct msd_peer_latencies *ps,
					  struct msd_peer_id who)
{
	struct msd_peer_latency *p = NULL;

	if (ps->n < MSD_PEER_LATENCIES)
		p = malloc(sizeof(*p));
	if (p != NULL) {
		ps->n++;
	} else if (ps->n > 0) {
		p = pace_of(ps->all.next);
		msd_list_remove(&p->link);
	} else {
		return NULL;
	}
	*p = (struct msd_peer_latency){.who = who};
	msd_list_init(&p->link);
	return p;
}

void msd_peer_latencies_note(struct msd_peer_latencies *ps, struct msd_peer_id who,
			     uint8_t place, uint64_t exec_ns)
{
	struct msd_peer_latency *p = find(ps, who);

	if (p == NULL)
		p = place_for(ps, who);
	if (p == NULL)
		return;
	msd_list_remove(&p->link);
	msd_list_append(&ps->all, &p->link);
	msd_latency_estimate_note(&p->pace, place, exec_ns);
}

uint32_t msd_peer_latencies_expect(const struct msd_peer_latencies *ps,
				   struct msd_peer_id who, uint8_t place)
{
	const struct msd_peer_latency *p = find(ps, who);

	return p != NULL ? msd_latency_estimate_expect(&p->pace, place) : 0;
}
