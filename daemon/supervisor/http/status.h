#ifndef MSD_SUPERVISOR_STATUS_H
#define MSD_SUPERVISOR_STATUS_H
/* `GET /status`: the daemon and its modules, as the page of them asks for it. */
#include <stdbool.h>
#include <stdint.h>

struct msd_asking;

#define MSD_STATUS_PIECE 16u   /* modules: some 150 us */
#define MSD_STATUS_ATTEMPTS 8u /* then all is made at once */

/* How far it is written. All zeros: it has not begun. */
struct msd_status_at {
	bool has_begun, has_any;
	uint64_t generation; /* of the house, when it had */
	uint32_t n_passed;   /* modules that are written, or not seen */
	uint32_t rss_looks;  /* that are left */
	unsigned n_begun;    /* how often it was written anew */
};

/** Append what is next to the body of @a, as of now: of modules those that its asker
 * sees. True: it is whole; false: MSD_STATUS_PIECE more modules are there. When one
 * came or went meanwhile it is written anew, so that none is told twice. */
bool msd_status_go_on(struct msd_asking *a, struct msd_status_at *at);
/** The route's. */
void msd_status(struct msd_asking *a);

#endif
