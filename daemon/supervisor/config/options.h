#ifndef MSD_SUPERVISOR_OPTIONS_H
#define MSD_SUPERVISOR_OPTIONS_H
/*
 * The configuration of modserd: the configuration file, overridden by the command
 * line. Both accept the options of option_rows.h. A list (`listen`) on the command
 * line replaces the list of the file; modules (`--load`, `module`) are matched by
 * name.
 */
#include "daemon/limits.h"
#include "daemon/supervisor/config/trust_option.h"
#include "daemon/supervisor/fetch/fetch_options.h"
#include "daemon/supervisor/request/network.h"
#include "daemon/supervisor/rpc/rpc_settings.h"
#include "proto/address.h"
#include "proto/base/bytes.h"
#include "proto/limits.h"
#include "proto/words/sandbox_word.h"

#define MSD_MAX_LISTEN 16u
#define MSD_MAX_AGENTS 64u
#define MSD_MAX_PATHS 16u
#define MSD_MAX_OPTIONS 96u
#define MSD_FORMER_OPTIONS 8u
#define MSD_CONFIG_DEFAULT "/etc/modserd/modserd.conf"

enum msd_run {
	MSD_RUN_SERVE,
	MSD_RUN_HELP,
	MSD_RUN_HELP_ALL,
	MSD_RUN_VERSION,
	MSD_RUN_API,
	MSD_RUN_CHECK_CONFIG,
	MSD_RUN_PRINT_CONFIG
};

/* Absolute paths of existing files. */
struct msd_option_paths {
	uint32_t n;
	const char *paths[MSD_MAX_PATHS + 1]; /* terminated by NULL */
};

/* Trusted proxies, and the text of each as it was given. */
struct msd_option_proxies {
	struct msd_networks networks;
	const char *texts[MSD_MAX_NETWORKS];
};

/* The listener for agent checks of load balancers. */
struct msd_agent {
	struct msd_address address;
	char module[MSD_MAX_NAME_BYTES + 1]; /* module; "": the whole daemon */
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
	enum msd_sandbox_word sandbox; /* for workers */
	struct msd_option_paths may_read, may_write;
	const char *worker_user; /* for workers; NULL: the daemon's user */
	const char *store;       /* folder; NULL: nothing is kept */
	bool may_lack_store; /* it is only a default: the daemon may run without it */
	const char *config;  /* path of the file; NULL: no file was read */
	bool is_again;   /* read by a running daemon: a truncated file is rejected */
	const char *acl; /* path of the rights file; NULL if absent */
	const char *tls_cert, *tls_key, *tls_ca,
		*tls_crl; /* PEM files; NULL: not given */
	struct msd_option_proxies proxies;
	struct msd_trust_option trust;
	struct msd_fetch_options terms; /* defaults for all fetches */
	struct msd_address http;        /* HTTP listener address */
	bool has_http;                  /* true if HTTP is enabled */
	struct msd_rpc_settings rpc;    /* --tvm-rpc */
	bool has_model;                 /* a word of the command line is a model file */
	struct msd_agent agents[MSD_MAX_AGENTS];
	uint32_t n_agents;
	bool insecure_tcp, allow_load_tcp;
	bool keep_workers; /* over a restart, in the service manager */
	enum msd_run action;
	/* The origin of each row's value; NULL: it is the default. */
	const char *origins[MSD_MAX_OPTIONS];
	char **texts; /* owned: strings of the file that the fields above point to */
	uint32_t n_texts;
};

/** Call it after msd_options_read(), also after a failure. */
void msd_options_finish(struct msd_options *o);
/** A copy of @text that lives as long as @o; NULL if out of memory. */
const char *msd_options_keep(struct msd_options *o, const char *text);
/** Append a module; NULL if out of memory. Valid until the next call. */
struct msd_preload *msd_options_add_preload(struct msd_options *o);
/** The last module with that name, or NULL. */
struct msd_preload *msd_options_preload(const struct msd_options *o, const char *name);
/** Write all options as a configuration file, each with its origin. */
void msd_options_write(const struct msd_options *o, struct msd_buf *ret);
/** Print the common options, or all of them, to standard output. */
void msd_options_print_help(bool is_all);

#endif
