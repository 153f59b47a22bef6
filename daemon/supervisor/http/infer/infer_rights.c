#include "daemon/supervisor/http/infer/infer_rights.h"

#include "daemon/supervisor/edge/access/authorization.h"
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/http/bearer.h"
#include "daemon/supervisor/http/infer/infer_state.h"
#include "daemon/supervisor/module/life/catalog.h"
#include "daemon/supervisor/module/life/module.h"
#include "daemon/supervisor/module/stats/call_accounting.h"

/* @in contains the call's target. Returns false if it was answered with an error. */
static bool may_ask(struct msd_http_exchange *a, const struct msd_in *in)
{
	struct msd_diag d = {0};
	const msd_err err = in == NULL && a->edge->rights.acl != NULL
				    ? msd_diag_no_memory(&d)
				    : msd_authorization_ask(&a->caller->session, in,
							    MSD_M_CALL, &d);

	if (err != MSD_OK) {
		const bool wants_token =
			err == MSD_REFUSED && msd_bearer_is_anonymous(a);
		msd_counts_lost_call(&a->edge->counts, err);
		msd_infer_fail(a, wants_token ? 401 : msd_http_exchange_status(err),
			       &d);
		a->reply.wants_token = wants_token;
	}
	return err == MSD_OK;
}

void msd_infer_count_refused(struct msd_http_exchange *a, msd_err err)
{
	const struct msd_span name = a->names[0], module = msd_model_module_name(name);
	struct msd_span function = {0};
	struct msd_module *m;

	if (module.n < name.n) {
		function =
			(struct msd_span){name.p + module.n + 1, name.n - module.n - 1};
	}
	if (msd_module_require(a->edge->registry, module, &m, NULL) == MSD_OK) {
		msd_call_accounting_refused(&m->group, function,
					    &a->caller->session.client, err);
	} else {
		msd_counts_lost_call(&a->edge->counts, err);
	}
}

bool msd_infer_rights_call(struct msd_http_exchange *a)
{
	struct msd_buf params = {0};
	struct msd_model m;
	const msd_err err = msd_bearer_authorize(a, MSD_M_CALL);

	if (err != MSD_OK) {
		msd_counts_lost_call(&a->edge->counts, err);
		msd_counts_error(&a->edge->counts, err);
		return false;
	}
	if (a->edge->rights.acl == NULL) /* the name is not needed */
		return may_ask(a, NULL);
	const bool is_found =
		msd_model_find(a->edge->registry, a->names[0], &m, NULL) == MSD_OK;
	msd_infer_put_target(&params, a->names[0], is_found ? &m : NULL);
	const struct msd_in in = {
		.body = {.kind = MSD_REQUEST, .params = {params.p, params.n}}};
	const bool may = may_ask(a, params.bad ? NULL : &in);
	msd_buf_finish(&params);
	return may;
}

bool msd_infer_rights_spend(struct msd_http_exchange *a, const struct msd_infer *i)
{
	struct msd_diag d = {0};

	if (msd_authorization_spend(&a->caller->session, i->call.payload_bytes,
				    MSD_M_CALL, &d) == MSD_OK)
		return true;
	msd_counts_lost_call(&a->edge->counts, MSD_BUSY);
	msd_infer_fail(a, 429, &d);
	return false;
}
