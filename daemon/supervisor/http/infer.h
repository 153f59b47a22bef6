#ifndef MSD_SUPERVISOR_INFER_H
#define MSD_SUPERVISOR_INFER_H
/*
 * `POST /v2/models/MODEL/infer`: a call as any other, by the caller's session, and its
 * result as the Open Inference Protocol has it.
 *
 *   the JSON --> infer_make (a call) --> standing, call --> its inputs, as they come
 * --> queue --> infer_result
 */
#include "daemon/supervisor/http/caller.h"

/** The route's. The body is all there, or its JSON: the rest of it is its inputs. */
void msd_infer(struct msd_asking *a);
/** How the session of a caller is told. */
extern const struct msd_client_ops msd_infer_client_ops;
/** As msd_front_ops.on_room. */
void msd_infer_on_room(struct msd_session *s);
/** Its room for inputs is full: wait for the rest. */
void msd_infer_wait(struct msd_caller *c);
/** All of the answer is written, or its connection is gone: what it held is given back.
 */
void msd_infer_end(struct msd_caller *c, bool sent);
/** The last call is not kept any longer. */
void msd_infer_forget(struct msd_caller *c);
/** A thread works for it: it is not to be ended before that is over, which on_answer
 * tells. */
bool msd_infer_is_busy(const struct msd_caller *c);
/** Its call has room: inputs that are still to come are read to `inputs`, and who has
 * read them all says so by msd_infer_take(). */
bool msd_infer_is_taking(const struct msd_caller *c);
/** They are there. `asking` has the answer, or that it comes later. */
void msd_infer_take(struct msd_caller *c);
/** Bytes of memory that its calls hold. */
size_t msd_infer_bytes(const struct msd_caller *c);
/** It reads the request's body, or will copy tensors from it when there is room. */
bool msd_infer_needs_body(const struct msd_caller *c);

#endif
