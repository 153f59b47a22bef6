#ifndef MSD_PROTO_FNV_H
#define MSD_PROTO_FNV_H
/* FNV-1a: a fast hash. It resists no attacker. */
#include <stddef.h>
#include <stdint.h>

#define MSD_FNV_BEGIN UINT64_C(0xcbf29ce484222325)

/** Continue the hash @h, at first MSD_FNV_BEGIN, with @n bytes. */
static inline uint64_t msd_fnv(uint64_t h, const void *bytes, size_t n)
{
	const uint8_t *p = (const uint8_t *)bytes;

	for (size_t i = 0; i < n; i++)
		h = (h ^ p[i]) * UINT64_C(0x100000001b3);
	return h;
}

#endif
