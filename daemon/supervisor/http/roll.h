#ifndef MSD_SUPERVISOR_ROLL_H
#define MSD_SUPERVISOR_ROLL_H
/* A list, in JSON, of the modules that who asks may see: made in pieces. */
#include <stdbool.h>
#include <stdint.h>

struct msd_asking;
struct msd_module;
struct msd_roll_at;

#define MSD_ROLL_PIECE 16u   /* modules: some 150 us */
#define MSD_ROLL_ATTEMPTS 8u /* then all is made at once */

struct msd_roll {
	/** Append what stands in front of the first. */
	void (*begin)(struct msd_asking *a);
	/** Append what is told of one. */
	void (*put)(struct msd_asking *a, struct msd_roll_at *at, struct msd_module *m);
	const char *end;
};

/* How far it is written. Of a new one all but `of` and `ready_only` is zero. */
struct msd_roll_at {
	const struct msd_roll *of;
	bool ready_only; /* only those that serve */
	bool has_begun, has_any;
	uint64_t generation; /* of the house, when it had */
	uint32_t n_passed;   /* modules that are written, or left out */
	uint32_t rss_looks;  /* that are left for it (module/rss.h) */
	unsigned n_begun;    /* how often it was written anew */
};

/** Append what is next to the body of @a, as of now. True: it is whole; false:
 * MSD_ROLL_PIECE more modules were looked at. When one came or went meanwhile it is
 * written anew, so that none is told twice. */
bool msd_roll_go_on(struct msd_asking *a, struct msd_roll_at *at);

#endif
