#ifndef MSD_SUPERVISOR_MATCH_KEY_H
#define MSD_SUPERVISOR_MATCH_KEY_H
/*
 * Match keys: the tracker of TVM's RPC gives one to a client, which may have one
 * session with it. Each place of the server has one at a time:
 *
 *   NEW --announced--> TOLD --the tracker has given it away--> GIVEN
 *    ^                   '---------a client shows it-----------'--> USED
 *    '--its session ended, or no client showed it in time---------------'
 */
#include <stdbool.h>
#include <stdint.h>

#include "daemon/supervisor/rpc/rpc_settings.h"
#include "proto/base/bytes.h"

#define MSD_MATCH_KEY_BYTES (MSD_RPC_KEY_BYTES + 33u) /* KEY, ':', 32 digits */
#define MSD_MATCH_KEY_MS 6000u /* for a client to use a key that it got, as in TVM */

enum msd_match_key_state {
	MSD_MATCH_KEY_NEW,
	MSD_MATCH_KEY_TOLD,
	MSD_MATCH_KEY_GIVEN,
	MSD_MATCH_KEY_USED
};

struct msd_match_key {
	char text[MSD_MATCH_KEY_BYTES + 1];
	enum msd_match_key_state state;
	bool is_left;      /* in the answer that is being read */
	uint64_t given_ms; /* since when it is GIVEN */
};

struct msd_match_keys {
	struct msd_match_key *keys;
	uint32_t n;
	const char *key; /* the server's, borrowed */
};

/** Make @n keys. @key must outlive it. Errors: MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_match_keys_init(struct msd_match_keys *all, const char *key,
					   uint32_t n, struct msd_diag *d);
void msd_match_keys_finish(struct msd_match_keys *all);
/** A tracker that knows no key is there: all but used ones must be announced. */
void msd_match_keys_reset(struct msd_match_keys *all);
/**
 * Return a key to announce, with a new text, NULL if there is none. It counts as
 * announced: the tracker may give it away before it answers.
 */
const struct msd_match_key *msd_match_keys_tell(struct msd_match_keys *all);
/** True if a key must be announced. */
bool msd_match_keys_lack(const struct msd_match_keys *all);
/** An answer of the tracker follows that lists the keys it has left. */
void msd_match_keys_begin(struct msd_match_keys *all);
/** It has @key left. False: the key is none of those that it was told. */
bool msd_match_keys_left(struct msd_match_keys *all, struct msd_span key);
/** The end of the answer: replace keys that were given away and not used in time. */
void msd_match_keys_end(struct msd_match_keys *all, uint64_t now_ms);
/**
 * A client shows @key: it is used now. NULL: no client may use it. The time of the
 * search does not depend on where texts differ.
 */
struct msd_match_key *msd_match_keys_use(struct msd_match_keys *all,
					 struct msd_span key);

#endif
