#ifndef MSD_WIRE_CONN_PARTS_H
#define MSD_WIRE_CONN_PARTS_H
/* Private to conn.c (life), conn_read.c and conn_write.c (the two halves). */
#include "daemon/wire/conn.h"

/** Make the poll handle wait for what the state asks for. */
void msd_conn_poll_update(struct msd_conn *c);
/** Nothing may be read: closing, paused, or a payload has no place yet. */
bool msd_conn_is_stopped(const struct msd_conn *c);
/** Where the payload of the body that was just read goes. */
void msd_conn_payload_place(struct msd_conn *c, enum msd_place place);
/** Free the memory of bodies; none is being read any more. */
void msd_conn_free_body(struct msd_conn *c);
/** Close received descriptors that nobody took. */
void msd_conn_close_fds(struct msd_conn *c);
/** Forget unwritten frames, on_done(false) for each. */
void msd_conn_drop_queue(struct msd_conn *c);

#endif
