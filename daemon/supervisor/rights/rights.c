#include "daemon/supervisor/rights/rights.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/grow.h"

void msd_rights_set(struct msd_rights *r, struct msd_acl *a)
{
	msd_acl_destroy(r->acl);
	r->acl = a;
	r->generation++;
}

/*
 * Return the index of the user @name; create the user if it does not exist. Users
 * outlive a reload, so their number is bounded by the names that the operator has
 * ever used. n_users: out of memory.
 */
static uint32_t place_of(struct msd_rights *r, const char *name)
{
	uint32_t i = 0;

	while (i < r->n_users && strcmp(r->users[i]->name, name) != 0)
		i++;
	if (i < r->n_users)
		return i;
	struct msd_rights_user *user = calloc(1, sizeof(*user));
	if (user != NULL)
		user->name = strdup(name);
	if (user == NULL || user->name == NULL ||
	    !msd_grow(&r->users, i, sizeof(struct msd_rights_user *))) {
		if (user != NULL)
			free(user->name);
		free(user);
		return r->n_users;
	}
	r->users[r->n_users++] = user;
	return i;
}

struct msd_peer_id msd_rights_peer(struct msd_rights *r, const struct msd_grant *g,
				   struct msd_peer_id otherwise)
{
	if (!msd_grant_is_user(g))
		return otherwise;
	const uint32_t i = place_of(r, g->user->name);
	if (i == r->n_users)
		return otherwise;
	return (struct msd_peer_id){
		.kind = MSD_PEER_NAME, .value = i, .name = r->users[i]->name};
}

bool msd_rights_usage(struct msd_rights *r, const struct msd_grant *g,
		      struct msd_usage **ret)
{
	if (g->user == NULL || msd_quota_is_empty(&g->user->quota)) {
		*ret = NULL;
		return true;
	}
	const uint32_t i = place_of(r, g->user->name);
	if (i == r->n_users)
		return false;
	*ret = &r->users[i]->usage;
	return true;
}

const char *msd_rights_owner(struct msd_rights *r, const struct msd_grant *g)
{
	const uint32_t i = g->user != NULL ? place_of(r, g->user->name) : r->n_users;

	return i < r->n_users ? r->users[i]->name : NULL;
}

enum msd_token_verdict msd_rights_judge(struct msd_rights *r, const struct msd_grant *g,
					struct msd_peer_id from,
					const struct msd_digest *token, uint64_t now_ms)
{
	const bool waits = msd_login_throttle_left_ms(&r->guesses, from, now_ms) > 0;

	if (msd_grant_is_nobodys(g)) {
		if (waits)
			return MSD_TOKEN_WAIT;
		msd_login_throttle_note(&r->guesses, from, now_ms);
		return MSD_TOKEN_WRONG;
	}
	const uint32_t i = place_of(r, msd_grant_name(r->acl, g));
	if (i == r->n_users) /* out of memory */
		return waits ? MSD_TOKEN_WAIT : MSD_TOKEN_RIGHT;
	if (waits && !msd_login_history_has(&r->users[i]->proven, from, token, now_ms))
		return MSD_TOKEN_WAIT;
	msd_login_history_note(&r->users[i]->proven, from, token, now_ms);
	return MSD_TOKEN_RIGHT;
}

void msd_rights_finish(struct msd_rights *r)
{
	msd_acl_destroy(r->acl);
	msd_denials_finish(&r->denials);
	for (uint32_t i = 0; i < r->n_users; i++) {
		free(r->users[i]->name);
		free(r->users[i]);
	}
	free(r->users);
	*r = (struct msd_rights){0};
}
