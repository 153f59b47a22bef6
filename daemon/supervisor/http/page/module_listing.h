#ifndef MSD_SUPERVISOR_MODULE_LISTING_H
#define MSD_SUPERVISOR_MODULE_LISTING_H
/* A JSON list of the modules that the client may see, written in chunks. */
#include <stdbool.h>
#include <stdint.h>

struct msd_http_exchange;
struct msd_module;
struct msd_module_listing_position;

#define MSD_MODULE_LISTING_PIECE 16u   /* modules: about 150 us */
#define MSD_MODULE_LISTING_ATTEMPTS 8u /* then the whole list is written at once */

struct msd_module_listing {
	/** Append the text before the first module. */
	void (*begin)(struct msd_http_exchange *a);
	/** Append one module. */
	void (*put)(struct msd_http_exchange *a, struct msd_module_listing_position *at,
		    struct msd_module *m);
	const char *end;
};

/* Position in the list. Initially all fields except `of` and `ready_only` are zero. */
struct msd_module_listing_position {
	const struct msd_module_listing *of;
	bool ready_only; /* only modules that serve */
	bool has_begun, has_any;
	uint64_t generation; /* the module registry's, at the start */
	uint32_t n_passed;   /* modules written or skipped */
	uint32_t rss_looks;  /* reads of worker memory left
				(daemon/supervisor/module/stats/rss.h) */
	unsigned n_begun;    /* number of restarts */
};

/**
 * Append the next part to the body of @a, with current values. Returns true if it is
 * complete, false after MSD_MODULE_LISTING_PIECE more modules. If a module was added or
 * removed in between, it starts again, so that no module is listed twice.
 */
bool msd_module_listing_go_on(struct msd_http_exchange *a,
			      struct msd_module_listing_position *at);

#endif
