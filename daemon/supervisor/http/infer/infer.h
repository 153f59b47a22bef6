#ifndef MSD_SUPERVISOR_INFER_H
#define MSD_SUPERVISOR_INFER_H
/*
 * `POST /v2/models/MODEL/infer`: a call by the session of the HTTP client, with its
 * result in the format of the Open Inference Protocol.
 *
 *   the JSON --> infer_make (a call) --> standing, call --> its inputs, as they
 *       arrive --> queue --> infer_result
 */
#include "daemon/supervisor/http/http_session.h"

/**
 * Route handler. The body is complete, or only its JSON is; the rest of the body is
 * its inputs.
 */
void msd_infer(struct msd_http_exchange *a);
/** Callbacks that answer the session of an HTTP client. */
extern const struct msd_client_ops msd_infer_client_ops;
/** These implement msd_frontend_ops. */
bool msd_infer_fill(struct msd_session *s, const uint8_t *was);
void msd_infer_on_resumed(struct msd_session *s);
/** Its room for inputs is full: wait for more room. */
void msd_infer_wait(struct msd_http_session *c);
/** The reply is written, or its connection is gone: release its resources. */
void msd_infer_end(struct msd_http_session *c, bool sent);
/** True if a thread works for it: it must not be freed before on_answer. */
bool msd_infer_is_busy(const struct msd_http_session *c);
/**
 * True if its call has room: the caller reads the remaining inputs to `inputs`, then
 * calls msd_infer_accept().
 */
bool msd_infer_is_taking(const struct msd_http_session *c);
/** All inputs have arrived. `asking` contains the reply, or says that it follows. */
void msd_infer_accept(struct msd_http_session *c);
/** Bytes of memory that its calls use. */
size_t msd_infer_bytes(const struct msd_http_session *c);
/**
 * True if it is parsing the request's body, or will copy tensors from it when there
 * is room.
 */
bool msd_infer_needs_body(const struct msd_http_session *c);

#endif
