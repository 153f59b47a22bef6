#ifndef MSD_SUPERVISOR_EDGE_H
#define MSD_SUPERVISOR_EDGE_H
/*
 * State that all sessions share. The server embeds it and passes it to them. They
 * know nothing else about the server.
 *
 *   listener --> gate (PROXY) --> porch (TLS) --> door (accept) --> front
 *   (bytes to requests) --> framed, methods, call, upload, object --> session
 *
 * Each file includes those to its right and none to its left. They use the modules;
 * the modules never use them.
 */
#include <uv.h>

#include "daemon/loop/list.h"
#include "daemon/supervisor/edge/access/log_rate.h"
#include "daemon/supervisor/edge/counts.h"
#include "daemon/supervisor/edge/session/session.h"
#include "daemon/supervisor/request/client_segment.h"
#include "daemon/supervisor/request/deadline.h"
#include "daemon/supervisor/request/waiters.h"
#include "daemon/supervisor/rights/rights.h"
#include "daemon/supervisor/tls/handshake.h"
#include "proto/address.h"
#include "proto/base/bytes.h"

struct msd_http;
struct msd_method_call;
struct msd_networks;
struct msd_req;
struct msd_rpc;

/* An override for one load: a key of a module's section in the configuration and its
 * value. */
struct msd_said {
	const char *key, *value;
};

/* The modules that a client may see. */
struct msd_view {
	bool (*sees)(void *who, const char *module);
	void *who;
};

struct msd_edge {
	/* Owned by the server. */
	uv_loop_t *loop;
	struct msd_wire *wire;
	struct msd_deadlines *deadlines;
	const struct msd_limits *limits;
	struct msd_unpack *unpack;            /* for the request that is being read */
	struct msd_module_registry *registry; /* the module registry */
	struct msd_budget *budget;            /* tensor bytes of all requests */
	struct msd_devices *devices;
	struct msd_device_gauges *gauges; /* load of the devices */
	struct msd_keeper *keeper;        /* of the store; open if a store exists */
	struct msd_fetcher *fetcher;
	const struct msd_tls *tls;          /* open if a listener uses TLS */
	const struct msd_networks *proxies; /* trusted proxies; NULL: none */
	bool load_tcp;                      /* TCP clients may load */
	struct msd_rights rights;           /* contents of the ACL file */
	uint64_t started_ms;                /* loop time */
	uint64_t started_unix_ms;           /* wall clock */
	/** Read the configuration again and write the differences to @ret. */
	msd_err (*on_reload)(struct msd_edge *e, struct msd_buf *ret,
			     struct msd_diag *d);
	/**
	 * Load the module @name from the configuration or the store, with the @n_said
	 * overrides @said, which are borrowed. Takes @r on MSD_OK; the reply is sent
	 * when the module is READY or failed.
	 */
	msd_err (*on_load)(struct msd_edge *e, const char *name,
			   const struct msd_said *said, uint32_t n_said,
			   struct msd_req *r, struct msd_diag *d);
	/**
	 * Return how a module differs from its configuration. NULL: no difference.
	 * Static.
	 */
	const char *(*config_word)(struct msd_edge *e, const struct msd_module *m);
	/** Append the facts about the daemon: the result of server.info. */
	void (*put_info)(struct msd_edge *e, struct msd_buf *ret);
	/**
	 * Reply to @c, server.metrics or module.list, now or later. Errors: MSD_NOMEM.
	 */
	msd_err (*answer_in_chunks)(struct msd_edge *e, struct msd_method_call *c,
				    struct msd_diag *d);
	/** A connection ended. */
	void (*on_session_gone)(struct msd_edge *e);
	struct msd_http *http; /* NULL: no listener for HTTP */
	struct msd_rpc *rpc;   /* NULL: no listener for TVM's RPC */
	/* Owned by the edge. */
	struct msd_list listeners; /* msd_listening.link */
	struct msd_list everybody; /* msd_session.link */
	struct msd_list sessions;  /* msd_session.watch_link */
	struct msd_list
		space_waiters; /* msd_session.space_link: bodies that wait for memory */
	struct msd_deadline slow; /* memory_share.c: checks slow payloads while
				     connections wait for memory */
	uint64_t n_waiting; /* number of space_waiters during a retry; else 0: must be
			       counted */
	struct msd_list pulls;   /* method_pull.c: pulls in progress */
	struct msd_list errands; /* msd_store_request.link */
	struct msd_waiters
		info_waiters;    /* server.info requests that wait for the devices */
	struct msd_list uploads; /* msd_upload.link: uploads that wait for bytes */
	struct msd_list handle_disposal; /* handle_disposal.c */
	struct msd_list held_back; /* msd_frame_session.pressure.link: sessions that
				      hold too    much memory */
	struct msd_task pressure;  /* memory was released: check held_back again */
	struct msd_task stuck;     /* more sessions that hold too much must be closed */
	/* sessions.c: checks connection timeouts at intervals, in rounds. */
	struct {
		struct msd_deadline next; /* begins a round */
		struct msd_task round;
		uint64_t away_ms, n_waiting; /* of this round */
		uint32_t n_left;             /* connections to check in this round */
	} watch;
	struct msd_client_peers peers;
	struct msd_list comers;           /* proxy_accept.c */
	struct msd_handshakes handshakes; /* tls_accept.h */
	/* Log lines about connections and about rejected actions. */
	struct msd_log_rate refusals, ends, handshake_failures, gate_failures, denied,
		connects, audits, limited, confined;
	struct msd_client_segments loans; /* of all connections */
	uint64_t upload_bytes;            /* uploads that are not loaded yet */
	uint32_t n_findings;              /* jobs that read the store */
	uint32_t n_readings;              /* jobs that read chunks of the store */
	uint32_t n_cares;                 /* jobs that check or clean the store */
	uint32_t n_sessions; /* sessions and handshakes, without connections that are
				being rejected */
	uint32_t n_leaving;  /* connection slots that handle_disposal.h keeps */
	struct msd_counts counts;
};

/* An address with a listener. */
struct msd_listening {
	struct msd_list link; /* msd_edge.listeners */
	/* Text that `listening` prints, with the actual port. */
	char text[MSD_ADDRESS_TEXT_MAX + sizeof("agent+")];
};

#endif
