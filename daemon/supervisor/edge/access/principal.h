#ifndef MSD_SUPERVISOR_PRINCIPAL_H
#define MSD_SUPERVISOR_PRINCIPAL_H
/*
 * The rights that the transport of a connection gives, independent of the user. Set
 * once when the connection is made (PROTOCOL.md section 1). A method needs the right
 * of its row in proto/method.h. An ACL file gives each user a part of these rights:
 * authorization.h.
 */
#include "daemon/supervisor/request/peer_id.h"
#include "proto/address.h"
#include "proto/base/diag.h"
#include "proto/method.h"

struct msd_principal {
	unsigned rights; /* bits of enum msd_right */
	bool is_local;   /* same machine, through a unix socket */
	/* Client of a trusted proxy's connection (proxy_accept.h). MSD_PEER_UNKNOWN:
	 * the socket's peer. */
	struct msd_peer_id client;
	bool is_sealed; /* such a client's path to the proxy is encrypted */
};

/**
 * Return the rights of a connection to an address of @kind. @load_tcp: TCP clients
 * may load, too.
 */
struct msd_principal msd_principal_of(enum msd_address_kind kind, bool load_tcp);
/** True if @p has @right. For a method, call msd_principal_check(). */
bool msd_principal_has(const struct msd_principal *p, enum msd_right right);
/**
 * Return MSD_REFUSED, with how to allow it, if @p may not call @method. Unknown
 * methods are allowed.
 */
MSD_MUST_CHECK msd_err msd_principal_check(const struct msd_principal *p,
					   enum msd_method method, struct msd_diag *d);

#endif
