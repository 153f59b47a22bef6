/* Memory for a body that must outlive the read buffer, or that arrived in pieces. It
 * is kept for the next body, and charged to the connection's account. */
#include <stdint.h>
#include <stdlib.h>

#include "daemon/loop/account.h"
#include "daemon/stream/conn_parts.h"

void msd_conn_free_body(struct msd_conn *c)
{
	if (c->limits.account != NULL)
		msd_account_release(c->limits.account, c->body_cap);
	free(c->body);
	c->body = NULL;
	c->body_cap = 0;
}

/* While the parent accounts are over their limit, a body over the connection's share
 * waits: the peer may never send the rest. */
static bool may_hold(const struct msd_conn *c, uint64_t bytes)
{
	const struct msd_account *a = c->limits.account;

	return a == NULL || bytes <= MSD_ACCOUNT_LEAST_BYTES ||
	       msd_account_kept(a) + bytes <= msd_account_share(a);
}

msd_err msd_conn_body_own(struct msd_conn *c)
{
	if (c->body != NULL && c->body_cap >= c->frame.body_bytes)
		return MSD_OK;
	if (!may_hold(c, c->frame.body_bytes))
		return MSD_BUSY;
	uint8_t *more = realloc(c->body, c->frame.body_bytes);
	if (more == NULL)
		return MSD_NOMEM;
	if (c->limits.account != NULL) {
		msd_account_charge(c->limits.account,
				   c->frame.body_bytes - c->body_cap);
	}
	c->body = more;
	c->body_cap = c->frame.body_bytes;
	return MSD_OK;
}
