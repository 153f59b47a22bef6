#include "runtime/value/big_int.h"

#include <stdlib.h>
#include <string.h>

#define WORD sizeof(int64_t)

struct big_int {
	struct msd_obj obj;
	size_t n; /* words */
	int64_t words[];
};

static void big_int_delete(void *self, int flags)
{
	if ((flags & MSD_WEAK_GONE) != 0)
		free(self);
}

/* Words without those that only repeat the sign. */
static size_t needed_words(const char *p, size_t n)
{
	int64_t high;
	int64_t low;

	while (n > 1) {
		memcpy(&high, p + (n - 1) * WORD, WORD);
		memcpy(&low, p + (n - 2) * WORD, WORD);
		if (high != (low < 0 ? -1 : 0))
			break;
		n--;
	}
	return n;
}

int msd_big_int_new(const struct msd_bytes *words, struct msd_any *ret)
{
	struct big_int *b;

	if (words->size % WORD != 0) {
		return msd_abi_raise("ValueError",
				     "BigInt content must contain whole 64-bit words");
	}
	const size_t n = needed_words(words->data, words->size / WORD);
	if (n <= 1) {
		*ret = msd_int(0);
		if (n == 1)
			memcpy(&ret->as.i, words->data, WORD);
		return 0;
	}
	b = malloc(sizeof(*b) + n * WORD);
	if (b == NULL)
		return msd_abi_no_memory();
	msd_obj_init(&b->obj, MSD_T_BIG_INT, big_int_delete);
	b->n = n;
	memcpy(b->words, words->data, n * WORD);
	*ret = msd_of_obj(&b->obj);
	return 0;
}

struct msd_bytes msd_big_int_words(const struct msd_any *v)
{
	const struct big_int *b = v->as.p;

	if (v->type == MSD_T_BIG_INT)
		return (struct msd_bytes){(const char *)b->words, b->n * WORD};
	return (struct msd_bytes){(const char *)&v->as.i,
				  v->type == MSD_T_INT ? WORD : 0};
}
