#ifndef MSD_WIRE_HANDLE_H
#define MSD_WIRE_HANDLE_H
/*
 * The handles that one side of a connection has given out: a session's functions and
 * uploads, a worker's tensors. A slot that is freed gets a new generation, so that an
 * old handle is an error and never a wrong object. Adding, finding and removing take
 * the same time however many there are.
 *
 * A table that has an account charges it with itself and with its objects, each an
 * allocation of its own. No owner is stopped for that, who could not free them then: it
 * gets no more instead.
 */
#include <stdint.h>

#include "daemon/wire/account.h"
#include "proto/diag.h"
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
	struct msd_account *account; /* NULL: nobody's */
	uint64_t charged_bytes;      /* to it */
};

/** An empty table of at most @max handles; nothing is allocated yet. */
void msd_handles_init(struct msd_handles *hs, uint32_t max);
/** From here on all of it is charged to @account, and no longer to the one before. */
void msd_handles_charge_to(struct msd_handles *hs, struct msd_account *account);
/** Free the table alone; the owner has dealt with the objects. */
void msd_handles_finish(struct msd_handles *hs);
/** Give @object, which stays the caller's, a handle. Errors: MSD_BUSY at the limit or
 * the account's, MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_handles_add(struct msd_handles *hs, enum msd_kind kind,
				       void *object, struct msd_handle *ret,
				       struct msd_diag *d);
/** The object behind @h, NULL when it is stale or of another kind. */
static inline void *msd_handles_peek(const struct msd_handles *hs, enum msd_kind kind,
				     struct msd_handle h)
{
	return h.slot < hs->n && hs->entries[h.slot].kind == kind &&
			       hs->entries[h.slot].generation == h.generation
		       ? hs->entries[h.slot].object
		       : NULL;
}
/** The same with a sentence for the client. Errors: MSD_STALE_HANDLE; the text names
 * kind and handle. */
MSD_MUST_CHECK msd_err msd_handles_get(const struct msd_handles *hs, enum msd_kind kind,
				       struct msd_handle h, void **ret,
				       struct msd_diag *d);
/** Forget @h, which must be live; its object must be there still. */
void msd_handles_remove(struct msd_handles *hs, struct msd_handle h);
/** The next live entry from slot *@at on, which moves behind it; NULL at the end. The
 * one that was returned may be removed. Begin with 0. */
const struct msd_handle_entry *msd_handles_next(const struct msd_handles *hs,
						uint32_t *at);

#endif
