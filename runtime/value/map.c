/*
 * Builds, reads and frees maps.
 *
 * Happy path: a new hash table first gets the first key of each chain at the slot of
 * its hash, then the others at the nearest free slots that a jump reaches. Thus no key
 * ever moves. If a jump finds no free slot, a table of twice the size is built.
 *
 * A library may have changed a map, or made it: readers check every index.
 */
#include "runtime/value/map.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/value/hash.h"

#define SMALL ((uint64_t)1 << 63)
#define SMALL_MIN 2u /* room for a hash table's fields: a library may switch */
#define SMALL_MAX 4u
#define NONE UINT64_MAX
#define BLOCK 16u /* slots of a block */
#define EMPTY 0xffu
#define PROTECTED 0xfeu
#define TAIL 0x80u /* not the first of its chain; the low bits are the jump */
#define FIBONACCI 11400714819323198485u

struct item {
	struct msd_pair pair;
	uint64_t previous;
	uint64_t next;
};

struct block {
	uint8_t meta[BLOCK];
	struct item items[BLOCK];
};
_Static_assert(sizeof(struct block) == BLOCK * (sizeof(struct item) + 1), "Block");
_Static_assert(sizeof(struct msd_map) == 80, "DenseMapBaseObj");
#define SMALL_BYTES offsetof(struct msd_map, shift)

/* How far the jumps of a chain lead; larger tables would need more. */
static const uint64_t jumps[] = {
	0,      1,       2,       3,       4,        5,        6,        7,
	8,      9,       10,      11,      12,       13,       14,       15,
	21,     28,      36,      45,      55,       66,       78,       91,
	105,    120,     136,     153,     171,      190,      210,      231,
	253,    276,     300,     325,     351,      378,      406,      435,
	465,    496,     528,     561,     595,      630,      666,      703,
	741,    780,     820,     861,     903,      946,      990,      1035,
	1081,   1128,    1176,    1225,    1275,     1326,     1378,     1431,
	1485,   1540,    1596,    1653,    1711,     1770,     1830,     1891,
	1953,   2016,    2080,    2145,    2211,     2278,     2346,     2415,
	2485,   2556,    2628,    8515,    19110,    42778,    96141,    216153,
	486591, 1092981, 2458653, 5532801, 12442566, 27993903, 62983476, 141717030,
};
#define N_JUMPS (sizeof(jumps) / sizeof(jumps[0]))

static uint8_t *meta_at(const struct msd_map *m, uint64_t i)
{
	return &((struct block *)m->data)[i / BLOCK].meta[i % BLOCK];
}

static struct item *item_at(const struct msd_map *m, uint64_t i)
{
	return &((struct block *)m->data)[i / BLOCK].items[i % BLOCK];
}

static bool is_used(uint8_t meta)
{
	return meta != EMPTY && meta != PROTECTED;
}

static void drop_pair(struct msd_pair *p)
{
	msd_any_drop(&p->key);
	msd_any_drop(&p->value);
}

static void drop_pairs(struct msd_map *m)
{
	struct msd_pair *pairs = m->data;
	const uint64_t n = m->data == NULL ? 0 : m->slots;

	for (uint64_t i = 0; (m->slots & SMALL) != 0 && i < m->size; i++)
		drop_pair(&pairs[i]);
	for (uint64_t i = 0; (m->slots & SMALL) == 0 && i < n; i++) {
		if (is_used(*meta_at(m, i)))
			drop_pair(&item_at(m, i)->pair);
	}
}

static void map_delete(void *self, int flags)
{
	struct msd_map *m = self;

	if ((flags & MSD_STRONG_GONE) != 0) {
		drop_pairs(m);
		if (m->data_deleter != NULL)
			m->data_deleter(m->data);
	}
	if ((flags & MSD_WEAK_GONE) != 0)
		free(m);
}

static bool copy_pair(const struct msd_pair *from, struct msd_pair *to)
{
	if (!msd_any_copy(&from->key, &to->key))
		return false;
	if (msd_any_copy(&from->value, &to->value))
		return true;
	msd_any_drop(&to->key);
	return false;
}

static struct msd_map *small_new(enum msd_type type, const struct msd_pair *pairs,
				 size_t n, size_t *ret_repeated)
{
	const size_t room = n > SMALL_MIN ? n : SMALL_MIN;
	struct msd_map *m = calloc(1, SMALL_BYTES + room * sizeof(*pairs));

	if (m == NULL)
		return NULL;
	msd_obj_init(&m->obj, type, map_delete);
	m->data = (char *)m + SMALL_BYTES;
	m->slots = room | SMALL;
	struct msd_pair *to = m->data;
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < i && *ret_repeated == SIZE_MAX; k++) {
			if (msd_any_equal(&pairs[k].key, &pairs[i].key))
				*ret_repeated = i;
		}
		if (*ret_repeated != SIZE_MAX || !copy_pair(&pairs[i], &to[i])) {
			msd_obj_unref(&m->obj);
			return NULL;
		}
		m->size++;
	}
	return m;
}

static uint64_t home_of(const struct msd_map *m, const struct msd_any *key)
{
	return (FIBONACCI * msd_hash_any(key)) >> m->shift;
}

/* Append the copied pair to the order of insertion. */
static bool put(struct msd_map *m, uint64_t at, uint8_t meta,
		const struct msd_pair *pair)
{
	struct item *item = item_at(m, at);

	if (!copy_pair(pair, &item->pair))
		return false;
	*meta_at(m, at) = meta;
	m->size++;
	return true;
}

/* The last slot of the chain that begins at @at, or NONE if the chain has @key. */
static uint64_t end_of(const struct msd_map *m, uint64_t at, const struct msd_any *key)
{
	for (;;) {
		const uint64_t jump = jumps[*meta_at(m, at) & ~TAIL];

		if (msd_any_equal(&item_at(m, at)->pair.key, key))
			return NONE;
		if (jump == 0)
			return at;
		at = (at + jump) % m->slots;
	}
}

enum placed { PLACED, REPEATED, NO_SLOT, NO_MEMORY };

/* Put a pair behind the first of its chain; *@ret is its slot. */
static enum placed put_behind(struct msd_map *m, const struct msd_pair *pair,
			      uint64_t *ret)
{
	const uint64_t end = end_of(m, home_of(m, &pair->key), &pair->key);

	if (end == NONE)
		return REPEATED;
	for (size_t i = 1; i < N_JUMPS; i++) {
		const uint64_t at = (end + jumps[i]) % m->slots;

		if (*meta_at(m, at) != EMPTY)
			continue;
		if (!put(m, at, TAIL, pair))
			return NO_MEMORY;
		*meta_at(m, end) |= (uint8_t)i;
		*ret = at;
		return PLACED;
	}
	return NO_SLOT;
}

static void link_last(struct msd_map *m, uint64_t at)
{
	item_at(m, at)->previous = m->last;
	item_at(m, at)->next = NONE;
	if (m->last == NONE) {
		m->first = at;
	} else {
		item_at(m, m->last)->next = at;
	}
	m->last = at;
}

/* Fill the empty table; @slot has room for the place of each pair. */
static enum placed fill(struct msd_map *m, const struct msd_pair *pairs, size_t n,
			uint64_t *slot, size_t *ret_repeated)
{
	for (size_t i = 0; i < n; i++) {
		const uint64_t home = home_of(m, &pairs[i].key);
		const bool is_free = *meta_at(m, home) == EMPTY;

		slot[i] = is_free ? home : NONE;
		if (is_free && !put(m, home, 0, &pairs[i]))
			return NO_MEMORY;
	}
	for (size_t i = 0; i < n; i++) {
		const enum placed placed =
			slot[i] == NONE ? put_behind(m, &pairs[i], &slot[i]) : PLACED;

		if (placed == REPEATED)
			*ret_repeated = i;
		if (placed != PLACED)
			return placed;
	}
	for (size_t i = 0; i < n; i++)
		link_last(m, slot[i]);
	return PLACED;
}

static struct msd_map *table_new(enum msd_type type, uint32_t bits)
{
	const uint64_t slots = (uint64_t)1 << bits;
	const uint64_t n_blocks = (slots + BLOCK - 1) / BLOCK;
	struct msd_map *m = calloc(1, sizeof(*m));
	struct block *blocks = malloc(n_blocks * sizeof(*blocks));

	if (m == NULL || blocks == NULL) {
		free(m);
		free(blocks);
		return NULL;
	}
	for (uint64_t i = 0; i < n_blocks; i++)
		memset(blocks[i].meta, EMPTY, BLOCK);
	msd_obj_init(&m->obj, type, map_delete);
	m->data = blocks;
	m->slots = slots;
	m->data_deleter = free;
	m->shift = 64 - bits;
	m->first = m->last = NONE;
	return m;
}

struct msd_map *msd_map_new(enum msd_type type, const struct msd_pair *pairs, size_t n,
			    size_t *ret_repeated)
{
	enum placed placed = NO_SLOT;
	struct msd_map *m = NULL;
	uint32_t bits = 4;
	uint64_t *slot;

	*ret_repeated = SIZE_MAX;
	if (n <= SMALL_MAX)
		return small_new(type, pairs, n, ret_repeated);
	while (bits < 32 && (uint64_t)1 << bits < 2 * (uint64_t)n)
		bits++;
	slot = n < UINT32_MAX / 4 ? malloc(n * sizeof(*slot)) : NULL;
	while (slot != NULL && placed == NO_SLOT && bits < 36) {
		if (m != NULL)
			msd_obj_unref(&m->obj);
		m = table_new(type, bits++);
		placed = m != NULL ? fill(m, pairs, n, slot, ret_repeated) : NO_MEMORY;
	}
	free(slot);
	if (placed == PLACED)
		return m;
	if (m != NULL)
		msd_obj_unref(&m->obj);
	return NULL;
}

struct msd_map_walk msd_map_begin(const struct msd_map *map)
{
	return (struct msd_map_walk){
		.map = map,
		.at = (map->slots & SMALL) != 0 || map->size == 0 ? 0 : map->first,
		.left = map->data != NULL ? map->size : 0};
}

const struct msd_pair *msd_map_next(struct msd_map_walk *w)
{
	const struct msd_map *m = w->map;

	if (w->left == 0)
		return NULL;
	w->left--;
	if ((m->slots & SMALL) != 0) {
		return w->at < (m->slots & ~SMALL)
			       ? &((const struct msd_pair *)m->data)[w->at++]
			       : NULL;
	}
	if (w->at >= m->slots || !is_used(*meta_at(m, w->at)))
		return NULL;
	const struct item *item = item_at(m, w->at);
	w->at = item->next;
	return &item->pair;
}
