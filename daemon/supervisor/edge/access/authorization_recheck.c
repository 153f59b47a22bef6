#include "daemon/supervisor/edge/access/authorization.h"
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/module/life/module.h"

/* These methods wait for information, so rights matter when it is sent. The work of
 * other waiting requests is done already. */
static bool is_about_others(enum msd_method method)
{
	return method == MSD_M_SERVER_MONITOR || method == MSD_M_MODULE_LOGS ||
	       method == MSD_M_MODULE_WAIT;
}

msd_err msd_authorization_may_still(struct msd_client *c, const struct msd_req *r,
				    struct msd_diag *d)
{
	struct msd_session *s = MSD_CONTAINER_OF(c, struct msd_session, client);
	struct msd_buf params = {0};
	struct msd_in again = {0};

	if (s->edge->rights.acl == NULL || !is_about_others(r->method))
		return MSD_OK;
	msd_pack_array(&params, r->module != NULL);
	if (r->module != NULL)
		msd_pack_cstr(&params, r->module->group.name);
	again.body.params = (struct msd_span){params.p, params.n};
	const msd_err err = params.bad ? msd_diag_no_memory(d)
				       : msd_authorization_ask(s, &again, r->method, d);
	msd_buf_finish(&params);
	return err;
}
