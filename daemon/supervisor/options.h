#ifndef MSD_SUPERVISOR_OPTIONS_H
#define MSD_SUPERVISOR_OPTIONS_H
/*
 * What modserd is told: by its configuration file, then by its command line, which
 * wins. Both say the same options, those of option_rows.h. A list (`listen`) that the
 * command line gives takes the place of the file's; modules (`--load`, `module`) are
 * told apart by their names.
 */
#include "daemon/limits.h"
#include "daemon/supervisor/fetch/terms.h"
#include "daemon/supervisor/request/network.h"
#include "daemon/supervisor/trust_option.h"
#include "proto/address.h"
#include "proto/bytes.h"
#include "proto/limits.h"
#include "proto/sandbox_word.h"

#define MSD_MAX_LISTEN 16u
#define MSD_MAX_AGENTS 64u
#define MSD_MAX_PATHS 16u
#define MSD_MAX_OPTIONS 96u
#define MSD_CONFIG_DEFAULT "/etc/modserd/modserd.conf"

enum msd_run {
	MSD_RUN_SERVE,
	MSD_RUN_HELP,
	MSD_RUN_VERSION,
	MSD_RUN_API,
	MSD_RUN_CHECK_CONFIG,
	MSD_RUN_PRINT_CONFIG
};

/* Absolute paths of what is there. */
struct msd_option_paths {
	uint32_t n;
	const char *paths[MSD_MAX_PATHS + 1]; /* ended by NULL */
};

/* Trusted proxies, and as whom they were said. */
struct msd_option_proxies {
	struct msd_networks networks;
	const char *texts[MSD_MAX_NETWORKS];
};

/* Where the agent checks of balancers are answered. */
struct msd_agent {
	struct msd_address address;
	char module[MSD_MAX_NAME_BYTES + 1]; /* of which; "": of the whole daemon */
};

struct msd_options {
	struct msd_address listen[MSD_MAX_LISTEN];
	uint32_t n_listen;
	struct msd_preload *preloads;
	uint32_t n_preloads;
	struct msd_limits limits;
	uint32_t socket_mode;
	uint32_t threads;
	struct msd_option_paths plugins;
	enum msd_sandbox_word sandbox; /* of workers */
	struct msd_option_paths may_read, may_write;
	const char *worker_user; /* of workers; NULL: the daemon's */
	const char *store;       /* folder; NULL: nothing is kept */
	bool may_lack_store;     /* nobody has named it: without it will do, too */
	const char *config;      /* the file; NULL: none was read */
	bool is_again;   /* by a daemon that serves: a file that is cut is none */
	const char *acl; /* the file of rights; NULL: none */
	const char *tls_cert, *tls_key, *tls_ca,
		*tls_crl; /* PEM files; NULL: not said */
	struct msd_option_proxies proxies;
	struct msd_trust_option trust;
	struct msd_fetch_terms terms; /* of all that is fetched */
	struct msd_address http;      /* where HTTP is listened for */
	bool has_http;                /* it is, at all */
	struct msd_agent agents[MSD_MAX_AGENTS];
	uint32_t n_agents;
	bool insecure_tcp, allow_load_tcp;
	bool keep_workers; /* over a restart, by the service manager */
	enum msd_run action;
	/* Where each row's value is from; NULL: it is the default. */
	const char *origins[MSD_MAX_OPTIONS];
	char **texts; /* owned: of the file, what the above point to */
	uint32_t n_texts;
};

/** After msd_options_read(), in every case. */
void msd_options_finish(struct msd_options *o);
/** A copy of @text that lives as long as @o; NULL: no memory. */
const char *msd_options_keep(struct msd_options *o, const char *text);
/** One module more; NULL: no memory. Valid until the next one. */
struct msd_preload *msd_options_add_preload(struct msd_options *o);
/** The module of that name that was said last, or NULL. */
struct msd_preload *msd_options_preload(const struct msd_options *o, const char *name);
/** All options as a configuration file, each with where it is from. */
void msd_options_write(const struct msd_options *o, struct msd_buf *ret);
/** To standard output. */
void msd_options_print_help(void);

#endif
