#include "daemon/supervisor/rpc/match_key.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

msd_err msd_match_keys_init(struct msd_match_keys *all, const char *key, uint32_t n,
			    struct msd_diag *d)
{
	all->keys = calloc(n, sizeof(*all->keys));
	if (all->keys == NULL)
		return msd_diag_no_memory(d);
	all->n = n;
	all->key = key;
	return MSD_OK;
}

void msd_match_keys_finish(struct msd_match_keys *all)
{
	free(all->keys);
	all->keys = NULL;
	all->n = 0;
}

void msd_match_keys_reset(struct msd_match_keys *all)
{
	for (uint32_t i = 0; i < all->n; i++) {
		if (all->keys[i].state == MSD_MATCH_KEY_TOLD)
			all->keys[i].state = MSD_MATCH_KEY_NEW;
	}
}

static struct msd_match_key *find_new(const struct msd_match_keys *all)
{
	for (uint32_t i = 0; i < all->n; i++) {
		if (all->keys[i].state == MSD_MATCH_KEY_NEW)
			return &all->keys[i];
	}
	return NULL;
}

bool msd_match_keys_lack(const struct msd_match_keys *all)
{
	return find_new(all) != NULL;
}

const struct msd_match_key *msd_match_keys_tell(struct msd_match_keys *all)
{
	struct msd_match_key *k = find_new(all);
	uint64_t random[2];

	/* A guessed key gives a session, so there is no key without random numbers. */
	if (k == NULL ||
	    getrandom(random, sizeof(random), GRND_NONBLOCK) != (ssize_t)sizeof(random))
		return NULL;
	(void)snprintf(k->text, sizeof(k->text), "%s:%016llx%016llx", all->key,
		       (unsigned long long)random[0], (unsigned long long)random[1]);
	k->state = MSD_MATCH_KEY_TOLD;
	return k;
}

void msd_match_keys_begin(struct msd_match_keys *all)
{
	for (uint32_t i = 0; i < all->n; i++)
		all->keys[i].is_left = false;
}

bool msd_match_keys_left(struct msd_match_keys *all, struct msd_span key)
{
	for (uint32_t i = 0; i < all->n; i++) {
		struct msd_match_key *k = &all->keys[i];
		if (k->text[0] != '\0' && msd_span_is(key, k->text)) {
			k->is_left = true;
			return true;
		}
	}
	return false;
}

void msd_match_keys_end(struct msd_match_keys *all, uint64_t now_ms)
{
	for (uint32_t i = 0; i < all->n; i++) {
		struct msd_match_key *k = &all->keys[i];
		if (k->state == MSD_MATCH_KEY_TOLD && !k->is_left) {
			k->state = MSD_MATCH_KEY_GIVEN;
			k->given_ms = now_ms;
		} else if (k->state == MSD_MATCH_KEY_GIVEN &&
			   now_ms - k->given_ms > MSD_MATCH_KEY_MS) {
			k->state = MSD_MATCH_KEY_NEW;
		}
	}
}

struct msd_match_key *msd_match_keys_use(struct msd_match_keys *all,
					 struct msd_span key)
{
	struct msd_match_key *found = NULL;

	for (uint32_t i = 0; i < all->n; i++) {
		struct msd_match_key *k = &all->keys[i];
		if (msd_rpc_key_is(k->text, key) &&
		    (k->state == MSD_MATCH_KEY_TOLD || k->state == MSD_MATCH_KEY_GIVEN))
			found = k;
	}
	if (found != NULL)
		found->state = MSD_MATCH_KEY_USED;
	return found;
}
