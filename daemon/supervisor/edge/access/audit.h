#ifndef MSD_SUPERVISOR_AUDIT_H
#define MSD_SUPERVISOR_AUDIT_H
/*
 * Audit log for all protocols: which clients connect, and which client changes
 * something for other clients. Only this file writes these log lines, at a bounded
 * rate. Connections have their own rate, so that they cannot hide, for example, an
 * unload. denied.h logs rejected requests.
 */
#include "daemon/stream/conn.h"
#include "daemon/supervisor/edge/session/session.h"
#include "proto/method.h"

/**
 * Log that @s connected. Without an ACL file no client has a user, and the line is
 * only for debugging (`debug`).
 */
void msd_audit_connected(struct msd_session *s, bool is_http);
/**
 * Log that @s presented a token and has its user from now on. Without an ACL file no
 * user is set.
 */
void msd_audit_shown(struct msd_session *s);
/**
 * Log that @s is authorized for @method on @module and runs it. Methods that change
 * nothing are not logged.
 */
void msd_audit_asked(struct msd_session *s, enum msd_method method,
		     struct msd_span module);
/** Like msd_audit_asked(), for a request with the parameters of @in. */
void msd_audit_request(struct msd_session *s, const struct msd_in *in,
		       enum msd_method method);
/** Log that @by closes the connection of @killed. */
void msd_audit_killed(struct msd_session *by, const struct msd_session *killed);

#endif
