#include "daemon/supervisor/rights/rights.h"

#include <stdlib.h>
#include <string.h>

void msd_rights_take(struct msd_rights *r, struct msd_acl *a)
{
	msd_acl_destroy(r->acl);
	r->acl = a;
	r->generation++;
}

/* Names are compared by their places here, which outlive every reading of the file;
 * they are as many as the operator has ever written into it. */
struct msd_peer_id msd_rights_peer(struct msd_rights *r, const struct msd_grant *g,
				   struct msd_peer_id otherwise)
{
	uint32_t i = 0;

	if (!msd_grant_is_user(g))
		return otherwise;
	while (i < r->n_names && strcmp(r->names[i], g->user->name) != 0)
		i++;
	if (i == r->n_names) {
		char **more = realloc(r->names, (i + 1) * sizeof(*more));
		if (more == NULL)
			return otherwise;
		r->names = more;
		more[i] = strdup(g->user->name);
		if (more[i] == NULL)
			return otherwise;
		r->n_names++;
	}
	return (struct msd_peer_id){
		.kind = MSD_PEER_NAME, .value = i, .name = r->names[i]};
}

void msd_rights_finish(struct msd_rights *r)
{
	msd_acl_destroy(r->acl);
	msd_denials_finish(&r->denials);
	for (uint32_t i = 0; i < r->n_names; i++)
		free(r->names[i]);
	free(r->names);
	*r = (struct msd_rights){0};
}
