#include "tests/artifact/mangle.h"

#include <stdlib.h>

#include "tests/support/exact.h"

size_t mangle_prefixes(struct msd_span golden, mangle_read *read, void *ctx)
{
	size_t accepted = 0;

	for (size_t n = 0; n < golden.n; n++) {
		uint8_t *copy = exact_copy(golden.p, n);

		accepted += read((struct msd_span){copy, n}, ctx);
		free(copy);
	}
	return accepted;
}

bool mangle_flips(struct msd_span golden, mangle_read *read, void *ctx)
{
	static const uint8_t masks[] = {0xff, 0x01};
	uint8_t *copy = exact_copy(golden.p, golden.n);
	const struct msd_span whole = {copy, golden.n};
	bool is_accepted = read(whole, ctx);

	for (size_t i = 0; i < golden.n; i++) {
		for (size_t k = 0; k < sizeof(masks); k++) {
			copy[i] ^= masks[k];
			(void)read(whole, ctx);
			copy[i] ^= masks[k];
		}
	}
	is_accepted = read(whole, ctx) && is_accepted;
	free(copy);
	return is_accepted;
}
