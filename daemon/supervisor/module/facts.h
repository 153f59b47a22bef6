#ifndef MSD_SUPERVISOR_FACTS_H
#define MSD_SUPERVISOR_FACTS_H
/*
 * What a worker said of its module when it opened it: worker.open's result. It is read
 * once, when it comes; what clients ask afterwards is looked up or sent as it lies
 * there. Zero is empty: no worker has said anything yet.
 */
#include <stdbool.h>

#include "proto/body.h"

/* Keys of module.describe that are the worker's: device, era, machine, built_ms,
 * sandbox, inspect and functions. */
#define MSD_FACTS_N_PARTS 7u

struct msd_facts {
	struct msd_shared *text; /* the parts, key and value each; NULL: empty */
	struct msd_span
		device; /* in the text: the value of that key, as functions is */
	struct msd_span functions;
	struct msd_span *names; /* in the text, sorted; owned, n_functions */
	uint32_t n_functions;
	bool has_pins; /* the workers' device holds the pages of their segments */
};

/** Free what it holds; zeroed and finished ones are fine. They are unknown again. */
void msd_facts_finish(struct msd_facts *f);
static inline bool msd_facts_are_known(const struct msd_facts *f)
{
	return f->text != NULL;
}
/**
 * Take what the response @body says instead of what was known. Errors: MSD_INTERNAL
 * when it is not what CHANNEL.md promises; MSD_NOMEM. @f is as it was then.
 */
MSD_MUST_CHECK msd_err msd_facts_take(struct msd_facts *f, const struct msd_body *body,
				      struct msd_diag *d);
/** Append the parts of a module of which nothing is known: keys without values. */
void msd_facts_put_unknown(struct msd_buf *out);
bool msd_facts_have_function(const struct msd_facts *f, struct msd_span name);
/** What function.list says of it: the map of its keys; n is 0: there is none. */
struct msd_span msd_facts_function(const struct msd_facts *f, struct msd_span name);
/** The same of the function that is the model: `main`, else a whole model `run`,
 * else the only one that is a whole model, else the only one. n is 0: nobody can say
 * which. */
struct msd_span msd_facts_model(const struct msd_facts *f);
/** Whether it fills its outputs, which are arguments behind its inputs. */
bool msd_facts_is_prim(const struct msd_facts *f, struct msd_span name);
/** The function that @name may have meant; n is 0: none. */
struct msd_span msd_facts_near_function(const struct msd_facts *f,
					struct msd_span name);

#endif
