#include "daemon/supervisor/rpc/rpc_key.h"

#include "daemon/supervisor/edge/access/authorization.h"
#include "daemon/supervisor/request/network.h"
#include "daemon/supervisor/rights/acl.h"
#include "daemon/supervisor/rpc/tracker.h"
#include "store/digest.h"

static bool is_on_loopback(const struct msd_rpc_conn *c)
{
	uint8_t at[MSD_ADDRESS_BYTES];

	return msd_network_peer(c->conn.transport.fd, at) &&
	       msd_network_is_loopback(at) &&
	       c->session.principal.client.kind == MSD_PEER_UNKNOWN;
}

/* Wrong tokens are counted, and delayed, as those of other clients. */
static bool is_token(struct msd_rpc_conn *c, struct msd_span key)
{
	struct msd_rights *r = &c->rpc->edge->rights;
	struct msd_digest digest;
	struct msd_diag d = {0};

	msd_digest_of(key, &digest);
	const struct msd_identity who = {.token = &digest};
	struct msd_grant g = msd_acl_grant(r->acl, &who);
	const enum msd_token_verdict verdict = msd_rights_judge(
		r, &g, c->session.came_from, &digest, uv_now(c->rpc->edge->loop));
	if (verdict == MSD_TOKEN_WAIT || verdict == MSD_TOKEN_WRONG)
		return false;
	g.rights &= c->session.principal.rights;
	const msd_err err = msd_authorization_set(&c->session, &g, &digest, &d);
	msd_diag_finish(&d);
	return err == MSD_OK;
}

/* With a tracker only a match key is valid: the tracker counts free places. */
static bool is_own_key(struct msd_rpc_conn *c, struct msd_span key)
{
	struct msd_rpc *rpc = c->rpc;

	if (rpc->tracker == NULL)
		return msd_rpc_key_is(rpc->settings.key, key);
	c->place = msd_tracker_take_place(rpc->tracker, key);
	return c->place != NULL;
}

bool msd_rpc_key_admits(struct msd_rpc_conn *c, struct msd_span key)
{
	const bool is_ours = is_own_key(c, key);

	if (c->rpc->edge->rights.acl == NULL)
		return is_ours;
	if (is_ours && msd_authorization_has(&c->session, MSD_RIGHT_LOAD))
		return true;
	return !is_ours && c->rpc->tracker == NULL && is_on_loopback(c) &&
	       is_token(c, key) && msd_authorization_has(&c->session, MSD_RIGHT_LOAD);
}
