#ifndef MSD_SUPERVISOR_OPTIONS_H
#define MSD_SUPERVISOR_OPTIONS_H
/* modserd's command line. */
#include "daemon/limits.h"
#include "proto/address.h"
#include "proto/diag.h"

#define MSD_MAX_LISTEN 16u

struct msd_options {
	struct msd_address listen[MSD_MAX_LISTEN];
	uint32_t n_listen;
	struct msd_preload *preloads;
	uint32_t n_preloads;
	struct msd_limits limits;
	unsigned socket_mode;
	uint32_t threads;
	const char *store; /* folder; NULL: nothing is kept */
	bool insecure_tcp, allow_load_tcp;
	enum { MSD_RUN_SERVE, MSD_RUN_HELP, MSD_RUN_VERSION, MSD_RUN_API } action;
};

/** Read @argv. Errors: MSD_BAD_REQUEST; the text names the option and what it takes. */
MSD_MUST_CHECK msd_err msd_options_read(struct msd_options *o, int argc, char **argv,
					struct msd_diag *d);
/** After msd_options_read(), in every case. */
void msd_options_finish(struct msd_options *o);
/** To standard output. */
void msd_options_print_help(void);

#endif
