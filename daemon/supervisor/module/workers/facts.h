#ifndef MSD_SUPERVISOR_FACTS_H
#define MSD_SUPERVISOR_FACTS_H
/*
 * Facts that a worker reported about its module when it opened it: the result of
 * worker.open. It is parsed once, on arrival: requests of clients are looked up in
 * the compiled signatures or copied from the text. Zero is empty: no worker has
 * reported yet.
 */
#include <stdbool.h>

#include "proto/body.h"

/* Keys of module.describe that the worker provides: device, era, machine, built_ms,
 * sandbox, inspect and functions. */
#define MSD_FACTS_N_PARTS 7u

struct msd_function_signature;

struct msd_facts {
	struct msd_shared *text; /* the parts, key and value each; NULL: empty */
	struct msd_span device;  /* in the text: that key's value */
	struct msd_span functions;
	struct msd_function_signature *all; /* sorted by name; owned, n_functions */
	uint32_t n_functions;
	/* The model function: `main`, else `run` if it is a whole model, else the only
	 * whole model, else the only function. NULL: ambiguous. */
	const struct msd_function_signature *model;
	bool can_join; /* the worker can join calls of a function (`batch`) */
	bool has_pins; /* the workers' device pins the pages of their segments */
};

/** Free the facts, which are then unknown; zeroed and finished ones are fine. */
void msd_facts_finish(struct msd_facts *f);
static inline bool msd_facts_are_known(const struct msd_facts *f)
{
	return f->text != NULL;
}
/**
 * Replace the facts by those of the response @body. On failure @f is unchanged.
 * Errors: MSD_INTERNAL (it breaks CHANNEL.md), MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_facts_set(struct msd_facts *f, const struct msd_body *body,
				     struct msd_diag *d);
/** Append the parts of an unknown module: keys without values. */
void msd_facts_put_unknown(struct msd_buf *out);
/** Append the pair `model`: the name of the model function, or nil. */
void msd_facts_put_model(const struct msd_facts *f, struct msd_buf *out);
/** The function @name; NULL: unknown. Valid until the facts are replaced. */
const struct msd_function_signature *msd_facts_function(const struct msd_facts *f,
							struct msd_span name);
/** Suggest the function that @name may have meant; n is 0: none. */
struct msd_span msd_facts_near_function(const struct msd_facts *f,
					struct msd_span name);

#endif
