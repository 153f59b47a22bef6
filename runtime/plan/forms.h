#ifndef MSD_RUNTIME_PLAN_FORMS_H
#define MSD_RUNTIME_PLAN_FORMS_H
/* The forms of the tensors of an entry, rows or a layout of an engine, while its steps
 * are walked in the order of a run. */
#include <modserd_plugin.h>

#include "proto/base/diag.h"

struct msd_engine;
struct msd_entry_step;
struct msd_reorder;

struct msd_form {
	const modserd_layout *layout; /* NULL: rows */
	size_t bytes;                 /* in that layout */
};

struct msd_forms {
	/* By tensor: the form that its producer writes, and reorders into others. */
	struct msd_form *main;
	const struct msd_engine **main_by; /* the producer's engine */
	struct msd_reorder **others;
	struct msd_form *wants;       /* for inputs, then outputs, of the last node */
	const modserd_layout **asked; /* room for the answer of its engine */
};

/** @most: inputs and outputs of a node. False: memory is short. Finish @f in any case.
 */
MSD_MUST_CHECK bool msd_forms_init(struct msd_forms *f, const modser_graph *g,
				   size_t most);
void msd_forms_finish(struct msd_forms *f);
/** Set `wants` of the node of @step: rows, unless its engine chooses layouts. */
MSD_MUST_CHECK msd_err msd_forms_ask(struct msd_forms *f,
				     const struct msd_entry_step *step,
				     struct msd_diag *d);

#endif
