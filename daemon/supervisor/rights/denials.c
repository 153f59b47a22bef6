#include "daemon/supervisor/rights/denials.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_same(const struct msd_denial *a, const struct msd_denial *b)
{
	return a->method == b->method && strcmp(a->user, b->user) == 0 &&
	       strcmp(a->peer, b->peer) == 0 && strcmp(a->name, b->name) == 0;
}

void msd_denial_put_name(char ret[static MSD_DENIAL_NAME_BYTES],
			 const struct msd_acl_target *target)
{
	(void)snprintf(ret, MSD_DENIAL_NAME_BYTES, "%.*s%s%.*s", (int)target->module.n,
		       (const char *)target->module.p,
		       target->function.n > 0 ? ":" : "", (int)target->function.n,
		       (const char *)target->function.p);
}

void msd_denials_add(struct msd_denials *all, const struct msd_denial *d)
{
	all->total++;
	if (all->ring == NULL)
		all->ring = calloc(MSD_DENIALS_MAX, sizeof(*all->ring));
	if (all->ring == NULL)
		return;
	for (uint32_t i = 0; i < all->n; i++) {
		struct msd_denial *old = &all->ring[i];
		if (is_same(old, d)) {
			old->last_s = d->last_s;
			old->connection = d->connection;
			old->times++;
			return;
		}
	}
	all->ring[all->next] = *d;
	all->next = (all->next + 1) % MSD_DENIALS_MAX;
	all->n += all->n < MSD_DENIALS_MAX ? 1u : 0u;
}

const struct msd_denial *msd_denials_at(const struct msd_denials *all, uint32_t i)
{
	const uint32_t first = all->n < MSD_DENIALS_MAX ? 0 : all->next;

	return i < all->n ? &all->ring[(first + i) % MSD_DENIALS_MAX] : NULL;
}

void msd_denials_finish(struct msd_denials *all)
{
	free(all->ring);
	*all = (struct msd_denials){0};
}
