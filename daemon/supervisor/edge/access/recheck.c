/* These methods wait for information, so rights matter when it is sent. The work of
 * other waiting requests is done already. */
#include "daemon/supervisor/edge/access/recheck.h"

#include <string.h>

#include "daemon/log.h"
#include "daemon/loop/list.h"
#include "daemon/supervisor/edge/access/authorization.h"
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/edge/session/session.h"
#include "daemon/supervisor/module/life/module.h"
#include "daemon/supervisor/tls/library.h"

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

#define LINES_PER_SECOND 10u /* log lines */

static void end(struct msd_session *s, const char *why)
{
	struct msd_edge *e = s->edge;
	char text[MSD_PEER_TEXT_BYTES];
	uint64_t n_others;

	if (msd_log_rate_allow(&e->handshake_failures, uv_now(e->loop),
			       LINES_PER_SECOND, &n_others)) {
		msd_log(MSD_LOG_WARN, "tls_client_untrusted",
			"peer=\"%s\" others=%llu why=\"%s\"",
			msd_peer_id_text(s->peer->who, text),
			(unsigned long long)n_others, why);
	}
	msd_session_close(s, MSD_REFUSED, why);
}

uint32_t msd_tls_recheck_connections(struct msd_edge *e, const struct msd_tls *tls)
{
	uint32_t n = 0;

	MSD_LIST_EACH_SAFE (it, &e->everybody) {
		struct msd_session *s = MSD_CONTAINER_OF(it, struct msd_session, link);
		struct msd_diag d = {0};

		if (s->conn->transport.peer != NULL &&
		    tls->library->judge(tls->context, &s->conn->transport, &d) !=
			    MSD_OK) {
			end(s, msd_diag_text(&d));
			n++;
		}
		msd_diag_finish(&d);
	}
	return n;
}
