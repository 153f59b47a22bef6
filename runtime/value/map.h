#ifndef MSD_RUNTIME_VALUE_MAP_H
#define MSD_RUNTIME_VALUE_MAP_H
/*
 * Maps with the layout of tvm-ffi's MapObj and DictObj, which libraries read and
 * change in place. A map of few pairs is an array of them. A larger one is a hash
 * table with chains inside its slots; links through all items keep the order of
 * insertion.
 */
#include "runtime/value/value.h"

struct msd_pair {
	struct msd_any key;
	struct msd_any value;
};

struct msd_map {
	struct msd_obj obj;
	void *data;
	uint64_t size;
	uint64_t slots; /* the highest bit is set in an array of pairs */
	void (*data_deleter)(void *data);
	/* A hash table only: */
	uint32_t shift;
	uint64_t first;
	uint64_t last;
};

/**
 * A map of type MSD_T_MAP or MSD_T_DICT with copies of @n pairs, in their order. NULL:
 * memory is short, or *@ret_repeated is the index of a key that an earlier pair has
 * (else SIZE_MAX).
 */
struct msd_map *msd_map_new(enum msd_type type, const struct msd_pair *pairs, size_t n,
			    size_t *ret_repeated);

/* A walk over the pairs in their order. */
struct msd_map_walk {
	const struct msd_map *map;
	uint64_t at;
	uint64_t left;
};
struct msd_map_walk msd_map_begin(const struct msd_map *map);
/** The next pair, borrowed; NULL at the end, or where a link leads out of the map. */
const struct msd_pair *msd_map_next(struct msd_map_walk *w);

#endif
