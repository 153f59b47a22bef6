#ifndef MSD_SUPERVISOR_DISPATCH_H
#define MSD_SUPERVISOR_DISPATCH_H
/*
 * Dispatches the frames of a connection: they become requests, are authorized or
 * rejected, and are answered. frontend.h opens and closes the connection and calls
 * these functions.
 */
#include "daemon/stream/conn.h"

struct msd_client_ops;
struct msd_session;

extern const struct msd_client_ops msd_dispatch_client_ops;

/** These implement msd_conn_ops. */
enum msd_place msd_dispatch_on_body(struct msd_conn *c, struct msd_in *in);
enum msd_place msd_dispatch_on_full(struct msd_conn *c, struct msd_in *in);
void msd_dispatch_on_frame(struct msd_conn *c, struct msd_in *in);

/** These implement msd_frontend_ops. */
bool msd_dispatch_fill(struct msd_session *s, const uint8_t *was);
void msd_dispatch_on_resumed(struct msd_session *s);
uint64_t msd_dispatch_came(struct msd_session *s);
void msd_dispatch_on_reduced(struct msd_session *s);

#endif
