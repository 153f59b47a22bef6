#ifndef MSD_WIRE_FREE_LIST_H
#define MSD_WIRE_FREE_LIST_H
/*
 * Keeps finished objects of one kind for reuse. Every call makes some, and a pipeline
 * frees them in bursts that exceed the caches of the allocator. The last object kept
 * is reused first, while it is still in the processor's cache. A process has one loop
 * and one thread, so there is no lock.
 *
 * With AddressSanitizer no object is kept, because it would take a stale object for a
 * live one.
 */
#include "daemon/loop/list.h"

#define MSD_FREE_LIST_MAX 128u

/* All zeros: empty. */
struct msd_free_list {
	struct msd_list *first; /* links of the objects; only `next` is used */
	unsigned n;
};

/** Take the link of a kept object, which is in no list any more. NULL if empty. */
static inline struct msd_list *msd_free_list_pop(struct msd_free_list *s)
{
	struct msd_list *it = s->first;

	if (it == NULL)
		return NULL;
	s->first = it->next;
	s->n--;
	msd_list_init(it);
	return it;
}

/** True if one more may be kept. */
static inline bool msd_free_list_has_room(const struct msd_free_list *s)
{
#ifdef __SANITIZE_ADDRESS__
	(void)s;
	return false;
#else
	return s->n < MSD_FREE_LIST_MAX;
#endif
}

/** Keep the object with @link, which is in no list. There must be room. */
static inline void msd_free_list_push(struct msd_free_list *s, struct msd_list *link)
{
	link->next = s->first;
	s->first = link;
	s->n++;
}

#endif
