#include "daemon/supervisor/edge/methods/store_request.h"

#include "daemon/limits.h"
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/edge/session/session.h"
#include "daemon/supervisor/request/budget.h"

/* Count the peer's requests of the same kind that are in progress. */
static uint32_t n_of_peer(const struct msd_edge *e, const uint32_t *n_open,
			  struct msd_peer_id who)
{
	uint32_t n = 0;

	MSD_LIST_EACH (it, &e->errands) {
		const struct msd_store_request *other =
			MSD_CONTAINER_OF(it, struct msd_store_request, link);
		n += other->n_open == n_open && msd_peer_id_is(other->who, who);
	}
	return n;
}

static msd_err check_peer(const struct msd_method_call *c, const uint32_t *n_open,
			  struct msd_diag *d)
{
	const struct msd_edge *e = c->session->edge;
	const struct msd_client_peer *peer = c->session->peer;
	const uint32_t own = n_of_peer(e, n_open, peer->who);
	char text[MSD_PEER_TEXT_BYTES];

	if (msd_client_peer_is_operator(peer) ||
	    own < msd_fair_share_of_few(e->limits->max_uploads, *n_open - own))
		return MSD_OK;
	return msd_diag_set(d, MSD_BUSY,
			    "%s: %u reads of the store run already for %s, which is "
			    "its share (--max-concurrent-uploads)",
			    msd_method_row(c->method)->name, own,
			    msd_peer_id_text(peer->who, text));
}

static msd_err check_room(const struct msd_method_call *c, const uint32_t *n_open,
			  struct msd_diag *d)
{
	const struct msd_edge *e = c->session->edge;
	const char *method = msd_method_row(c->method)->name;

	if (!e->keeper->is_open) {
		return msd_diag_set(d, MSD_UNSUPPORTED, "%s: this daemon has no store",
				    method);
	}
	if (*n_open >=
	    e->limits->max_uploads) { /* requests of clients that left count, too */
		return msd_diag_set(
			d, MSD_BUSY,
			"%s: %u reads of the store run already for other clients",
			method, *n_open);
	}
	return check_peer(c, n_open, d);
}

msd_err msd_store_request_begin(struct msd_store_request *e, struct msd_method_call *c,
				uint32_t *n_open, struct msd_diag *d)
{
	struct msd_edge *edge = c->session->edge;
	const msd_err err = check_room(c, n_open, d);
	struct msd_req *r;

	if (err != MSD_OK)
		return err;
	r = msd_method_later(c);
	if (r == NULL)
		return msd_diag_no_memory(d);
	*e = (struct msd_store_request){
		.edge = edge, .who = c->session->peer->who, .n_open = n_open};
	msd_list_append(&edge->errands, &e->link);
	++*n_open;
	msd_job_waiter_init(&e->waiter, r,
			    "the deadline passed before the store was read");
	return MSD_OK;
}

struct msd_req *msd_store_request_end(struct msd_store_request *e)
{
	--*e->n_open;
	msd_list_remove(&e->link);
	return msd_job_waiter_request(&e->waiter);
}

void msd_store_request_answer(struct msd_store_request *e, struct msd_keeper_job *job,
			      struct msd_buf *result)
{
	struct msd_req *r = msd_store_request_end(e);

	if (r != NULL && job->err == MSD_OK) {
		msd_req_answer(r, result);
		msd_req_release(r);
	} else if (r != NULL) {
		msd_req_refuse(r, job->err, msd_diag_text(&job->d));
	}
	msd_diag_finish(&job->d);
	msd_buf_finish(result);
}
