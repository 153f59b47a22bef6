#ifndef MSD_WIRE_HANDLE_H
#define MSD_WIRE_HANDLE_H
/*
 * Handles that one side of a connection has given out: a session's functions and
 * uploads, a worker's tensors. A freed slot gets a new generation, so an old handle
 * is an error and never a wrong object. Add, find and remove take constant time.
 *
 * A table with an account charges it for itself and for its objects, each a separate
 * allocation. The charge never stops the owner, which could not free handles then.
 * Instead new handles are refused.
 */
#include <stdint.h>

#include "daemon/loop/account.h"
#include "proto/base/diag.h"
#include "proto/value.h"

struct msd_handle_entry {
	enum msd_kind kind; /* MSD_K_NIL: free */
	uint32_t generation;
	uint32_t next_free;
	void *object;
};

struct msd_handles {
	struct msd_handle_entry *entries;
	uint32_t n, cap, max, n_live;
	uint32_t first_free;         /* index + 1; 0: none */
	struct msd_account *account; /* NULL: not charged */
	uint64_t charged_bytes;      /* charged to the account */
};

/** Make an empty table of at most @max handles; nothing is allocated yet. */
void msd_handles_init(struct msd_handles *hs, uint32_t max);
/**
 * Charge the whole table to @account from now on, and release it from the previous
 * account.
 */
void msd_handles_charge_to(struct msd_handles *hs, struct msd_account *account);
/** Free only the table; the owner has freed the objects. */
void msd_handles_finish(struct msd_handles *hs);
/**
 * Give @object, which stays the caller's, a handle. Errors: MSD_BUSY at the limit of
 * the table or the account, MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_handles_add(struct msd_handles *hs, enum msd_kind kind,
				       void *object, struct msd_handle *ret,
				       struct msd_diag *d);
/** The object of @h, NULL if the handle is stale or of another kind. */
static inline void *msd_handles_peek(const struct msd_handles *hs, enum msd_kind kind,
				     struct msd_handle h)
{
	return h.slot < hs->n && hs->entries[h.slot].kind == kind &&
			       hs->entries[h.slot].generation == h.generation
		       ? hs->entries[h.slot].object
		       : NULL;
}
/**
 * Same as msd_handles_peek(), with an error text for the client. Errors:
 * MSD_STALE_HANDLE; the text names kind and handle.
 */
MSD_MUST_CHECK msd_err msd_handles_get(const struct msd_handles *hs, enum msd_kind kind,
				       struct msd_handle h, void **ret,
				       struct msd_diag *d);
/** Remove @h, which must be live; its object must still exist. */
void msd_handles_remove(struct msd_handles *hs, struct msd_handle h);
/**
 * Return the next live entry from slot *@at on and advance *@at; NULL at the end. The
 * returned entry may be removed. Start with 0.
 */
const struct msd_handle_entry *msd_handles_next(const struct msd_handles *hs,
						uint32_t *at);

#endif
