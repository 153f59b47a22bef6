#include <stdlib.h>
#include <string.h>

#include "daemon/loop/account.h"
#include "daemon/stream/conn_parts.h"

bool msd_conn_keep_spare(struct msd_conn *c, const uint8_t *p, size_t n)
{
	uint8_t *copy = malloc(n);

	if (copy == NULL)
		return false;
	memcpy(copy, p, n);
	c->spare = copy;
	c->spare_at = 0;
	c->n_spare = n;
	if (c->limits.account != NULL)
		msd_account_read_ahead(c->limits.account, n);
	return true;
}

void msd_conn_free_spare(struct msd_conn *c)
{
	if (c->spare == NULL)
		return;
	if (c->limits.account != NULL)
		msd_account_served(c->limits.account, c->n_spare);
	free(c->spare);
	c->spare = NULL;
}
