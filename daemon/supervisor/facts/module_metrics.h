#ifndef MSD_SUPERVISOR_MODULE_METRICS_H
#define MSD_SUPERVISOR_MODULE_METRICS_H
/* The metrics of the modules, labeled by name. */
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/facts/exposition.h"

/* Position in the families, valid for one generation of the module registry. All
 * zeros: not started. */
struct msd_module_metrics_at {
	unsigned family;       /* current family */
	struct msd_list *next; /* its next module; NULL: header not written */
	uint32_t n_looks;      /* reads of worker memory so far */
};

/**
 * Append families of modules from @at on, until x->out has @until bytes. @view
 * selects the modules; NULL: all. Returns true after the last one.
 */
bool msd_module_metrics_put(struct msd_exposition *x, const struct msd_edge *e,
			    const struct msd_view *view,
			    struct msd_module_metrics_at *at, size_t until);

#endif
