#ifndef MSD_SUPERVISOR_MODULE_METRICS_H
#define MSD_SUPERVISOR_MODULE_METRICS_H
/* What the metrics tell of the modules, by their names. */
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/facts/exposition.h"

/* How far it got, which is true for a generation of the house's. All zeros: it has not
 * begun. */
struct msd_module_metrics_at {
	unsigned family;       /* that is being told */
	struct msd_list *next; /* its next module; NULL: it is not opened */
	uint32_t n_looks;      /* at workers' memory */
	uint64_t sum_bytes;    /* of that */
};

/** Append families of modules from @at on, until x->out has @until bytes; of those
 * modules that @view lets through, NULL: all. True: these were the last. */
bool msd_module_metrics_put(struct msd_exposition *x, const struct msd_edge *e,
			    const struct msd_view *view,
			    struct msd_module_metrics_at *at, size_t until);

#endif
