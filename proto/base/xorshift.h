#ifndef MSD_PROTO_XORSHIFT_H
#define MSD_PROTO_XORSHIFT_H
/* Xorshift: fast random numbers, the same for the same seed. */
#include <stdint.h>

/** The next number; @state must not be 0. */
static inline uint64_t msd_xorshift(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

#endif
