/* The index of a file of packed weights, which another worker of the module wrote. */
#include <string.h>

#include "runtime/engine/weights.h"
#include "tests/fuzz/fuzz.h"

/* All bytes of the blocks are read. */
static void walk(const uint8_t *data, size_t n, const struct msd_weights_block *b)
{
	unsigned sum = 0;

	MUST(b->at <= n && b->bytes <= n - b->at);
	for (uint64_t i = 0; i < b->bytes; i++)
		sum += data[b->at + i];
	MUST(sum <= 255 * b->bytes);
}

int msd_fuzz_accepts(const uint8_t *data, size_t n)
{
	const struct msd_span key = {(const uint8_t *)"key", 3};
	size_t n_blocks = 0;
	struct msd_weights_block *blocks =
		msd_weights_read((struct msd_span){data, n}, key, &n_blocks);

	if (blocks == NULL)
		return 0;
	MUST(memcmp(data + 24, key.p, key.n) == 0);
	for (size_t i = 0; i < n_blocks; i++)
		walk(data, n, &blocks[i]);
	free(blocks);
	return 1;
}
