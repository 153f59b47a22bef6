#ifndef MSD_SUPERVISOR_INFER_INPUTS_H
#define MSD_SUPERVISOR_INFER_INPUTS_H
/* How the inputs of an `infer` get to where its call's payload lies. */
#include "daemon/http/scatter.h"
#include "daemon/supervisor/http/infer_make.h"

struct msd_caller;
struct msd_session;

/** Write those of @ask that are there to @payload: what was JSON, and what is bytes
 * when they lie in @behind. p NULL: they are still to come. */
void msd_infer_put_inputs(const struct msd_infer_call *c,
			  const struct msd_infer_ask *ask, struct msd_span behind,
			  uint8_t *payload);
/** Where in @payload those that are still to come belong, in their order: pieces of @c,
 * of which there is one list at a time. */
struct msd_scatter msd_infer_await_inputs(struct msd_infer_call *c, uint8_t *payload);
/** As msd_front_ops.came: all, where inputs do not lie in the order in which they come.
 */
uint64_t msd_infer_came(struct msd_session *s);
/** Where the room for inputs that still come ends; NULL: all of them have theirs. */
const uint8_t *msd_infer_room_end(const struct msd_caller *c);

#endif
