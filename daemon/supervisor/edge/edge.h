#ifndef MSD_SUPERVISOR_EDGE_H
#define MSD_SUPERVISOR_EDGE_H
/*
 * What all sessions share: given to them by the server, which embeds it. They know
 * nothing else of the server.
 *
 *   listener --> gate (proxies) --> porch (TLS) --> door (who comes in) --> front
 * (bytes to requests) --> framed, methods, call, upload, object --> session
 *
 * Each includes what is to its right and nothing to its left; they go on to the
 * modules, the modules never to them.
 */
#include <uv.h>

#include "daemon/supervisor/edge/client_peer.h"
#include "daemon/supervisor/edge/counts.h"
#include "daemon/supervisor/edge/log_rate.h"
#include "daemon/supervisor/request/deadline.h"
#include "daemon/supervisor/request/followers.h"
#include "daemon/supervisor/request/loan.h"
#include "daemon/supervisor/rights/rights.h"
#include "daemon/supervisor/tls/handshake.h"
#include "daemon/wire/list.h"
#include "proto/address.h"
#include "proto/bytes.h"

struct msd_fetch_terms;
struct msd_http;
struct msd_load;
struct msd_method_call;
struct msd_networks;
struct msd_req;

/* What is said of one load beside what the configuration or the store has of it: a key
 * of a module's section, and its value. */
struct msd_said {
	const char *key, *value;
};

/* Which modules somebody may know of. */
struct msd_view {
	bool (*sees)(void *who, const char *module);
	void *who;
};

struct msd_edge {
	/* The server's. */
	uv_loop_t *loop;
	struct msd_wire *wire;
	struct msd_deadlines *deadlines;
	const struct msd_limits *limits;
	struct msd_unpack *unpack; /* of what is read right now */
	struct msd_house *house;   /* of the modules */
	struct msd_budget *budget; /* tensor bytes of all requests */
	struct msd_devices *devices;
	struct msd_device_gauges *gauges; /* what these are doing */
	struct msd_keeper *keeper;        /* of the store; open when there is one */
	struct msd_fetcher *fetcher;
	const struct msd_tls *tls;          /* open when somebody listens by it */
	const struct msd_networks *proxies; /* that are trusted; NULL: none */
	bool load_tcp;                      /* TCP clients may load */
	struct msd_rights rights;           /* what the file of them says */
	uint64_t started_ms;
	/** Read the configuration again; what differs goes into @ret. */
	msd_err (*on_reload)(struct msd_edge *e, struct msd_buf *ret,
			     struct msd_diag *d);
	/** What the store has of the module @from, its current edition or its previous
	 * one, is to be loaded as @name, as @how says: @r, which is taken, is answered
	 * when it is READY, or why it is not. */
	void (*on_again)(struct msd_edge *e, const char *name, const char *from,
			 bool is_previous, const struct msd_load *how,
			 struct msd_req *r);
	/** Serve the previous edition of the module @name; takes @r, which is answered
	 * when it is READY or why it is not. */
	void (*on_rollback)(struct msd_edge *e, const char *name, struct msd_req *r);
	/** Load the module @name as the configuration or the store has it, but for what
	 * the @n_said of @said, which are borrowed, have of it; takes @r where it
	 * returns MSD_OK, which is answered when that is READY or why it is not. */
	msd_err (*on_load)(struct msd_edge *e, const char *name,
			   const struct msd_said *said, uint32_t n_said,
			   struct msd_req *r, struct msd_diag *d);
	/** Append what is known of the source of the module @name, or nil. */
	void (*put_supply)(struct msd_edge *e, const char *name, struct msd_buf *ret);
	/** How a module differs from what the configuration says of it; NULL: it does
	 * not. Static. */
	const char *(*config_word)(struct msd_edge *e, const struct msd_module *m);
	/** Append the facts about the daemon: the answer of server.info. */
	void (*put_info)(struct msd_edge *e, struct msd_buf *ret);
	/** On which terms the module @name is fetched, until this turn ends; NULL: as
	 * any. */
	const struct msd_fetch_terms *(*terms_of)(struct msd_edge *e, const char *name);
	/** Answer @c with the metrics, now or later. MSD_NOMEM. */
	msd_err (*answer_metrics)(struct msd_edge *e, struct msd_method_call *c,
				  struct msd_diag *d);
	/** A connection is gone. */
	void (*on_session_gone)(struct msd_edge *e);
	struct msd_http *http; /* NULL: nobody listens by it */
	/* Its own. */
	struct msd_list listeners;     /* msd_listening.link */
	struct msd_list everybody;     /* msd_session.link */
	struct msd_list sessions;      /* msd_framed.link: those of them with frames */
	struct msd_list space_waiters; /* msd_session.space_link: bodies without room */
	struct msd_deadline slow; /* share.c's: look whose payloads these wait for */
	uint64_t n_waiting;    /* of them, while all are tried; else 0: to be counted */
	struct msd_list pulls; /* method_pull.c's, that are being fetched */
	struct msd_list errands;           /* msd_errand.link */
	struct msd_followers info_waiters; /* server.info, for the devices */
	struct msd_list uploads;   /* msd_upload.link: those that wait for bytes */
	struct msd_list leavings;  /* leavings.c's */
	struct msd_deadline leave; /* there are some */
	struct msd_list held_back; /* msd_framed.pressure.link: hold too much memory */
	struct msd_deadline pressure; /* there is room: look at them again */
	struct msd_deadline stuck;    /* some are to be ended that hold too much */
	struct msd_deadline watch;    /* sessions.c's: look who is to be ended */
	struct msd_client_peers peers;
	struct msd_list comers;           /* gate.c's */
	struct msd_handshakes handshakes; /* porch.h's */
	/* Lines of the log about connections, and about what they may not. */
	struct msd_log_rate refusals, ends, handshake_failures, gate_failures, denied,
		connects, audits, limited, confined;
	struct msd_loans loans; /* of all connections */
	uint64_t upload_bytes;  /* of uploads that are not loaded yet */
	uint32_t n_findings;    /* jobs that read the store */
	uint32_t n_readings;    /* likewise, of pieces */
	uint32_t n_cares;       /* jobs that check or clean the store */
	uint32_t n_sessions; /* and handshakes; without those that are being refused */
	uint32_t n_leaving;  /* places that leavings.h keeps */
	struct msd_counts counts;
};

/* An address that is listened on. */
struct msd_listening {
	struct msd_list link; /* msd_edge.listeners */
	/* As `listening` prints it, the port resolved. */
	char text[MSD_ADDRESS_TEXT_MAX + sizeof("agent+")];
};

#endif
