#ifndef MSD_SUPERVISOR_INTAKE_H
#define MSD_SUPERVISOR_INTAKE_H
/*
 * What comes over a connection of frames and what goes back: its frames become
 * requests, admitted or refused, and are answered. The connection itself, from its
 * beginning to its end, is front.h's, which calls the functions here.
 */
#include "daemon/wire/conn.h"

struct msd_client_ops;

extern const struct msd_client_ops msd_intake_client_ops;

/** As msd_conn_ops has them. */
enum msd_place msd_intake_on_body(struct msd_conn *c, struct msd_in *in);
void msd_intake_on_frame(struct msd_conn *c, struct msd_in *in);

#endif
