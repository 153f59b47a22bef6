/*
 * The store.* methods: list and maintain the store.
 *
 * Happy path: the store thread does the work, and its result is the reply. Failures:
 * no store, a disk error, damaged contents, or too many requests. If the client
 * leaves or the deadline passes, the work is still done.
 */
#include <stdio.h>
#include <stdlib.h>

#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/edge/methods/method.h"
#include "daemon/supervisor/edge/methods/store_request.h"
#include "daemon/supervisor/keep/keeper.h"
#include "proto/name.h"
#include "proto/unpack.h"

struct caring {
	struct msd_store_maintenance care;
	struct msd_store_request errand;
};

static void on_cared(struct msd_keeper_job *job, struct msd_keeper *keeper)
{
	struct caring *caring = MSD_CONTAINER_OF(
		MSD_CONTAINER_OF(job, struct msd_store_maintenance, job), struct caring,
		care);

	(void)keeper;
	msd_store_request_answer(&caring->errand, job, &caring->care.result);
	free(caring);
}

static enum msd_store_maintenance_what what_of(enum msd_method method, bool is_pinned)
{
	if (method == MSD_M_STORE_LIST)
		return MSD_STORE_MAINTENANCE_LIST;
	if (method == MSD_M_STORE_VERIFY)
		return MSD_STORE_MAINTENANCE_VERIFY;
	if (method == MSD_M_STORE_COLLECT)
		return MSD_STORE_MAINTENANCE_COLLECT;
	return is_pinned ? MSD_STORE_MAINTENANCE_PIN : MSD_STORE_MAINTENANCE_UNPIN;
}

/* The first parameter is a module name; for a list in pages it is the last name of
 * the previous page. The second says whether the module is pinned. */
static msd_err read_params(const struct msd_method_call *c,
			   struct msd_store_maintenance *ret, struct msd_diag *d)
{
	const msgpack_object *params = c->params->via.array.ptr;
	const uint32_t n = c->params->via.array.size;
	struct msd_span name = msd_span_of("");
	bool is_pinned = false;
	msd_err err = MSD_OK;

	if (n > 0)
		err = msd_object_str(&params[0], "name", &name, d);
	if (err == MSD_OK && n > 0 && !msd_name_valid(name)) {
		err = msd_diag_set(d, MSD_BAD_REQUEST, "%s: invalid module name",
				   msd_method_row(c->method)->name);
	}
	if (err == MSD_OK && n > 1)
		err = msd_object_bool(&params[1], "pinned", &is_pinned, d);
	if (err != MSD_OK)
		return err;
	(void)snprintf(ret->name, sizeof(ret->name), "%.*s", (int)name.n,
		       (const char *)name.p);
	ret->what = what_of(c->method, is_pinned);
	return MSD_OK;
}

msd_err msd_method_store(struct msd_method_call *c, struct msd_diag *d)
{
	struct msd_edge *e = c->session->edge;
	struct caring *caring = calloc(1, sizeof(*caring));
	msd_err err;

	if (caring == NULL)
		return msd_diag_no_memory(d);
	err = read_params(c, &caring->care, d);
	if (err == MSD_OK)
		err = msd_store_request_begin(&caring->errand, c, &e->n_cares, d);
	if (err != MSD_OK) {
		free(caring);
		return err;
	}
	msd_store_maintenance(e->keeper, &caring->care, on_cared);
	return MSD_OK;
}
