#ifndef MSD_SUPERVISOR_PRINCIPAL_H
#define MSD_SUPERVISOR_PRINCIPAL_H
/*
 * What may be done by the way that a connection came, whoever it is: decided once, when
 * it is made (PROTOCOL.md section 1). A method needs the right of its row in
 * proto/method.h. A file of rights gives each user some of these: standing.h.
 */
#include "daemon/supervisor/request/peer_id.h"
#include "proto/address.h"
#include "proto/diag.h"
#include "proto/method.h"

struct msd_principal {
	unsigned rights; /* bits of enum msd_right */
	bool is_local;   /* on this machine, through a unix socket */
	/* Whose the connection is that a trusted proxy made (gate.h); nobody: its
	 * socket says. */
	struct msd_peer_id client;
	bool is_sealed; /* of such a one: nobody can read on the way to the proxy */
};

/** Who connects by an address of @kind; @load_tcp: TCP clients may load, too. */
struct msd_principal msd_principal_of(enum msd_address_kind kind, bool load_tcp);
/** Has @p the right? Of a method msd_principal_check() asks. */
bool msd_principal_has(const struct msd_principal *p, enum msd_right right);
/** MSD_REFUSED, saying what would allow it. A method that is none may be asked for. */
MSD_MUST_CHECK msd_err msd_principal_check(const struct msd_principal *p,
					   enum msd_method method, struct msd_diag *d);

#endif
