#include "runtime/value/hash.h"

#include <string.h>

#define MULTIPLIER 1099511628211u
#define MODULUS 2147483647u

static uint64_t combine(int32_t type, uint64_t value)
{
	const uint64_t key = (uint64_t)type;

	return key ^ (value + 0x9e3779b9u + (key << 6) + (key >> 2));
}

uint64_t msd_hash_bytes(const char *p, size_t n)
{
	uint64_t hash = 0;

	while (n > 0) { /* words of eight bytes, the last filled with zeros */
		const size_t some = n < sizeof(uint64_t) ? n : sizeof(uint64_t);
		uint64_t word = 0;

		memcpy(&word, p, some);
		hash = (hash * MULTIPLIER + word) % MODULUS;
		p += some;
		n -= some;
	}
	return hash;
}

uint64_t msd_hash_any(const struct msd_any *key)
{
	const struct msd_str *s = key->as.p;

	switch (key->type) {
	case MSD_T_SMALL_STR:
		return combine(MSD_T_STR, (uint64_t)key->as.i % MODULUS);
	case MSD_T_SMALL_BYTES:
		return combine(MSD_T_BYTES, (uint64_t)key->as.i % MODULUS);
	case MSD_T_STR:
	case MSD_T_BYTES:
		return combine(key->type, msd_hash_bytes(s->data, s->size));
	default:
		return combine(key->type, (uint64_t)key->as.i);
	}
}

bool msd_any_equal(const struct msd_any *a, const struct msd_any *b)
{
	const struct msd_str *s = a->as.p;
	const struct msd_str *t = b->as.p;

	if (a->type != b->type || a->small != b->small)
		return false;
	if (a->as.i == b->as.i)
		return true;
	return (a->type == MSD_T_STR || a->type == MSD_T_BYTES) && s->size == t->size &&
	       memcmp(s->data, t->data, s->size) == 0;
}
