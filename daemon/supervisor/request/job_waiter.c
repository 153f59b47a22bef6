#include "daemon/supervisor/request/job_waiter.h"

/* The request is the only member of its list, so its neighbour is the waiter's head. */
static void explain_due(const struct msd_req *r, struct msd_diag *d)
{
	const struct msd_job_waiter *w =
		MSD_CONTAINER_OF(r->link.next, struct msd_job_waiter, requests);

	(void)msd_diag_set(d, MSD_DEADLINE, "%s", w->late);
}

static void ignore(struct msd_req *r)
{
	(void)r; /* the job finds its list empty */
}

/* No worker has the request yet, so the other operations are never called. */
static const struct msd_req_ops req_ops = {
	.explain_due = explain_due, .on_answered = ignore, .on_freed = ignore};

void msd_job_waiter_init(struct msd_job_waiter *w, struct msd_req *r, const char *late)
{
	msd_list_init(&w->requests);
	w->late = late;
	if (r == NULL)
		return;
	r->ops = &req_ops;
	msd_list_append(&w->requests, &r->link);
}

struct msd_req *msd_job_waiter_request(struct msd_job_waiter *w)
{
	struct msd_list *it = msd_list_first(&w->requests);

	return it != NULL ? MSD_CONTAINER_OF(it, struct msd_req, link) : NULL;
}
