#ifndef MSD_WIRE_LIST_H
#define MSD_WIRE_LIST_H
/* Intrusive doubly linked list. The declaration of a list names its element: struct
 * msd_list x; // msd_y.link */
#include <stdbool.h>
#include <stddef.h>

struct msd_list {
	struct msd_list *prev;
	struct msd_list *next;
};

#define MSD_CONTAINER_OF(ptr, type, member)                                            \
	((type *)(void *)((char *)(ptr)-offsetof(type, member)))
#define MSD_LIST_EACH(it, list)                                                        \
	for (struct msd_list *it = (list)->next; it != (list); it = it->next)
/* Only the current element may be removed in the loop. */
#define MSD_LIST_EACH_SAFE(it, list)                                                   \
	for (struct msd_list *it = (list)->next, *it##_next = it->next; it != (list);  \
	     it = it##_next, it##_next = it->next)

static inline void msd_list_init(struct msd_list *l)
{
	l->prev = l->next = l;
}
static inline bool msd_list_is_empty(const struct msd_list *l)
{
	return l->next == l;
}
static inline void msd_list_append(struct msd_list *l, struct msd_list *element)
{
	element->prev = l->prev;
	element->next = l;
	l->prev->next = element;
	l->prev = element;
}
/* Legal on an element that is in no list (initialised or removed before). */
static inline void msd_list_remove(struct msd_list *element)
{
	element->prev->next = element->next;
	element->next->prev = element->prev;
	msd_list_init(element);
}
/* Move all elements of @from to the end of @to; @from is empty then. */
static inline void msd_list_append_all(struct msd_list *to, struct msd_list *from)
{
	if (msd_list_is_empty(from))
		return;
	from->next->prev = to->prev;
	to->prev->next = from->next;
	from->prev->next = to;
	to->prev = from->prev;
	msd_list_init(from);
}
static inline struct msd_list *msd_list_first(struct msd_list *l)
{
	return msd_list_is_empty(l) ? NULL : l->next;
}

#endif
