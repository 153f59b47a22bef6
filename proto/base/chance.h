#ifndef MSD_PROTO_CHANCE_H
#define MSD_PROTO_CHANCE_H
/* A random number for delays, so that processes do not act in the same moment. */
#include <stdint.h>
#include <sys/random.h>

/** The kernel's random number; UINT32_MAX if it has none yet. Never waits. */
static inline uint32_t msd_chance(void)
{
	uint32_t n = 0;

	return getrandom(&n, sizeof(n), GRND_NONBLOCK) == (ssize_t)sizeof(n)
		       ? n
		       : UINT32_MAX;
}

#endif
