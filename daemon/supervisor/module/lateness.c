#include "daemon/supervisor/module/lateness.h"

#include "daemon/supervisor/module/direct.h"
#include "daemon/supervisor/module/lane.h"
#include "daemon/supervisor/module/module.h"
#include "daemon/supervisor/module/replica.h"

/* What keeps a request from being run: a call of a direct channel, or a request. */
struct ahead {
	bool is_direct;
	const struct msd_req *request; /* or NULL */
};

/* It answers what was sent in that order. */
static struct ahead at(const struct msd_replica *rep)
{
	if (rep->process != NULL && msd_direct_is_ahead(rep->process))
		return (struct ahead){.is_direct = true};
	if (msd_list_is_empty(&rep->sent))
		return (struct ahead){0};
	return (struct ahead){
		.request = MSD_CONTAINER_OF(rep->sent.next, struct msd_req, link)};
}

/* Of several workers each is busy while @r is queued: the first one's stands for all.
 */
static struct ahead ahead_of(const struct msd_req *r)
{
	const struct msd_crew *crew = &r->module->crew;
	struct ahead ahead = {0};

	if (r->at.replica != NULL)
		return at(r->at.replica);
	if (r->at.lane->home != NULL)
		return at(r->at.lane->home);
	for (uint32_t i = 0; i < crew->n_replicas; i++) {
		ahead = at(&crew->replicas[i]);
		if (ahead.is_direct || ahead.request != NULL)
			break;
	}
	return ahead;
}

static const char *whose(struct ahead ahead, const struct msd_req *r)
{
	if (ahead.is_direct)
		return "behind a call of a direct channel";
	if (ahead.request == NULL)
		return "for the module";
	if (ahead.request->client.who == NULL)
		return "behind a call whose client waits no more";
	return ahead.request->client.who == r->client.who
		       ? "behind a call of its own client"
		       : "behind a call of another client";
}

void msd_lateness_explain(const struct msd_req *r, uint64_t now_ms, struct msd_diag *d)
{
	const char *name = r->module->crew.name;
	const struct ahead ahead = ahead_of(r);
	const unsigned long long all_ms = now_ms - (r->due.node.at_ms - r->due.in_ms);

	if (ahead.request != r) {
		(void)msd_diag_set(d, MSD_DEADLINE,
				   "module %s: waited %llu ms %s and was not begun by "
				   "the deadline",
				   name, all_ms, whose(ahead, r));
		return;
	}
	unsigned long long ran_ms = msd_replica_ran_ms(r->at.replica, now_ms);
	if (ran_ms > all_ms)
		ran_ms = all_ms;
	if (all_ms > ran_ms) {
		(void)msd_diag_set(d, MSD_DEADLINE,
				   "module %s: waited %llu ms behind others, then ran "
				   "%llu ms and was not done by the deadline",
				   name, all_ms - ran_ms, ran_ms);
	} else {
		(void)msd_diag_set(
			d, MSD_DEADLINE,
			"module %s: ran %llu ms and was not done by the deadline", name,
			ran_ms);
	}
}
