#ifndef MSD_SUPERVISOR_AUDIT_H
#define MSD_SUPERVISOR_AUDIT_H
/*
 * Who has connected and who has changed what for others, by whatever protocol: the one
 * place that writes these lines of the log, at a bounded rate. Connections have a rate
 * of their own, so that no number of them hides who has unloaded a module. What was
 * refused is denied.h's.
 */
#include "daemon/supervisor/edge/session.h"
#include "daemon/wire/conn.h"
#include "proto/method.h"

/** @s is there. Without a file of rights nobody is anybody, and it is a line for who
 * looks for faults (`debug`). */
void msd_audit_connected(struct msd_session *s, bool is_http);
/** @s has shown a token, and is its user from here on; without a file of rights it is
 * nobody's. */
void msd_audit_shown(struct msd_session *s);
/** @s may ask for @method of @module, and does. A method that changes nothing is passed
 * over. */
void msd_audit_asked(struct msd_session *s, enum msd_method method,
		     struct msd_span module);
/** msd_audit_asked() of a request whose parameters are those of @in. */
void msd_audit_request(struct msd_session *s, const struct msd_in *in,
		       enum msd_method method);
/** @by ends @killed. */
void msd_audit_killed(struct msd_session *by, const struct msd_session *killed);

#endif
