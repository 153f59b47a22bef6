#include "daemon/supervisor/module/lateness.h"

#include "daemon/supervisor/module/lane.h"
#include "daemon/supervisor/module/module.h"
#include "daemon/supervisor/module/replica.h"

/* What the worker runs, or NULL: it answers in the order of sending. */
static const struct msd_req *running(const struct msd_replica *rep)
{
	return msd_list_is_empty(&rep->sent)
		       ? NULL
		       : MSD_CONTAINER_OF(rep->sent.next, struct msd_req, link);
}

/* What keeps @r from being run, or NULL. Of several workers each is busy while it is
 * queued: the first one's stands for all. */
static const struct msd_req *ahead_of(const struct msd_req *r)
{
	const struct msd_crew *crew = &r->module->crew;
	const struct msd_req *ahead = NULL;

	if (r->at.replica != NULL)
		return running(r->at.replica);
	if (r->at.lane->home != NULL)
		return running(r->at.lane->home);
	for (uint32_t i = 0; ahead == NULL && i < crew->n_replicas; i++)
		ahead = running(&crew->replicas[i]);
	return ahead;
}

static const char *whose(const struct msd_req *ahead, const struct msd_req *r)
{
	if (ahead == NULL)
		return "for the module";
	if (ahead->client.who == NULL)
		return "behind a call whose client waits no more";
	return ahead->client.who == r->client.who ? "behind a call of its own client"
						  : "behind a call of another client";
}

void msd_lateness_explain(const struct msd_req *r, uint64_t now_ms, struct msd_diag *d)
{
	const char *name = r->module->crew.name;
	const struct msd_req *ahead = ahead_of(r);
	const unsigned long long all_ms = now_ms - (r->due.node.at_ms - r->due.in_ms);

	if (ahead != r) {
		(void)msd_diag_set(d, MSD_DEADLINE,
				   "module %s: waited %llu ms %s and was not begun by "
				   "the deadline",
				   name, all_ms, whose(ahead, r));
		return;
	}
	unsigned long long ran_ms = now_ms - r->at.replica->head_since_ms;
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
