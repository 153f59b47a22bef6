/*
 * Happy path: an object takes the first free slot, and its handle holds slot and
 * generation. A lookup with the handle finds it. A free increments the slot's
 * generation, so that the old handle finds nothing. Failures: every slot is taken, or
 * memory is short; a handle has another generation, or no slot.
 */
#include "daemon/loop/handle.h"

#include <malloc.h>
#include <stdlib.h>

#define BESIDE_BYTES 16u /* overhead of the allocator per object */

void msd_handles_init(struct msd_handles *hs, uint32_t max)
{
	*hs = (struct msd_handles){.max = max};
}

static void charge(struct msd_handles *hs, uint64_t bytes)
{
	hs->charged_bytes += bytes;
	if (hs->account != NULL)
		msd_account_read_ahead(hs->account, bytes);
}

static void release(struct msd_handles *hs, uint64_t bytes)
{
	hs->charged_bytes -= bytes;
	if (hs->account != NULL)
		msd_account_served(hs->account, bytes);
}

void msd_handles_charge_to(struct msd_handles *hs, struct msd_account *account)
{
	const uint64_t bytes = hs->charged_bytes;

	release(hs, bytes);
	hs->account = account;
	charge(hs, bytes);
}

void msd_handles_finish(struct msd_handles *hs)
{
	release(hs, hs->charged_bytes);
	free(hs->entries);
	*hs = (struct msd_handles){0};
}

static msd_err grow(struct msd_handles *hs, struct msd_diag *d)
{
	uint32_t cap = hs->cap > 0 ? 2 * hs->cap : 8;
	struct msd_handle_entry *more;

	if (cap > hs->max)
		cap = hs->max;
	if (hs->n >= cap) {
		return msd_diag_set(d, MSD_BUSY, "%u handles are the limit: free some",
				    hs->max);
	}
	more = realloc(hs->entries, cap * sizeof(*more));
	if (more == NULL)
		return msd_diag_no_memory(d);
	charge(hs, (cap - hs->cap) * sizeof(*more));
	hs->entries = more;
	hs->cap = cap;
	return MSD_OK;
}

/* 0 without an account: then the object may be no allocation. */
static uint64_t bytes_of(const struct msd_handles *hs, void *object)
{
	return hs->account != NULL ? malloc_usable_size(object) + BESIDE_BYTES : 0;
}

/* Allow half of the connection's limit, because it must still be readable. While its
 * peer is over its limit, allow only the minimum that every connection has. */
static msd_err check_room(const struct msd_handles *hs, uint64_t bytes,
			  struct msd_diag *d)
{
	const struct msd_account *a = hs->account;
	const uint64_t then = hs->charged_bytes + bytes;

	if (a == NULL || then <= MSD_ACCOUNT_LEAST_BYTES ||
	    (then <= a->max_bytes / 2 && msd_account_share(a) == UINT64_MAX))
		return MSD_OK;
	return msd_diag_set(d, MSD_BUSY,
			    "no room for another handle: this connection's take %llu "
			    "bytes, of %llu (half of --max-connection-memory) or less "
			    "(--max-peer-memory, --max-total-memory): free some",
			    (unsigned long long)hs->charged_bytes,
			    (unsigned long long)a->max_bytes / 2);
}

msd_err msd_handles_add(struct msd_handles *hs, enum msd_kind kind, void *object,
			struct msd_handle *ret, struct msd_diag *d)
{
	const uint64_t bytes = bytes_of(hs, object);
	uint32_t slot;
	msd_err err = check_room(hs, bytes, d);

	if (err != MSD_OK)
		return err;
	if (hs->first_free != 0) {
		slot = hs->first_free - 1;
		hs->first_free = hs->entries[slot].next_free;
	} else {
		if (hs->n == hs->cap) {
			err = grow(hs, d);
			if (err != MSD_OK)
				return err;
		}
		slot = hs->n++;
		hs->entries[slot] = (struct msd_handle_entry){.generation = 1};
	}
	hs->entries[slot].kind = kind;
	hs->entries[slot].object = object;
	hs->n_live++;
	charge(hs, bytes);
	*ret = (struct msd_handle){.slot = slot,
				   .generation = hs->entries[slot].generation};
	return MSD_OK;
}

msd_err msd_handles_get(const struct msd_handles *hs, enum msd_kind kind,
			struct msd_handle h, void **ret, struct msd_diag *d)
{
	void *object = msd_handles_peek(hs, kind, h);

	if (object == NULL) {
		return msd_diag_set(
			d, MSD_STALE_HANDLE,
			"%s handle %u.%u is not one of this connection's live handles",
			msd_kind_name(kind), h.slot, h.generation);
	}
	*ret = object;
	return MSD_OK;
}

void msd_handles_remove(struct msd_handles *hs, struct msd_handle h)
{
	struct msd_handle_entry *e = &hs->entries[h.slot];

	release(hs, bytes_of(hs, e->object));
	e->kind = MSD_K_NIL;
	e->object = NULL;
	e->generation++;
	if (e->generation == 0) /* 0 is never valid */
		e->generation = 1;
	e->next_free = hs->first_free;
	hs->first_free = h.slot + 1;
	hs->n_live--;
}

const struct msd_handle_entry *msd_handles_next(const struct msd_handles *hs,
						uint32_t *at)
{
	while (*at < hs->n) {
		const struct msd_handle_entry *e = &hs->entries[(*at)++];
		if (e->object != NULL)
			return e;
	}
	return NULL;
}
