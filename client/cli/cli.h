#ifndef MSD_CLI_CLI_H
#define MSD_CLI_CLI_H
/* Shared declarations of the command line `modser`. A verb is one row in verbs.c and
 * one function, which gets the words and options and returns the exit code. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pack/split_params.h"
#include "proto/words/run_options.h"

/* Exit codes, documented in modser(1). */
enum msd_exit {
	MSD_EXIT_OK = 0,
	MSD_EXIT_REMOTE = 1,  /* rejected by the daemon, the module or the function */
	MSD_EXIT_USAGE = 2,   /* the command line, or a file that it names */
	MSD_EXIT_CONNECT = 3, /* no connection, or the connection was lost */
	MSD_EXIT_NOT_FOUND = 4,
	MSD_EXIT_NOT_READY = 5,
	MSD_EXIT_REFUSED = 6,
	MSD_EXIT_NOT_VERIFIED = 7, /* the bytes do not match the digest or signature */
	MSD_EXIT_BAD_FILE = 8,     /* damaged, or it cannot be used */
	MSD_EXIT_DEADLINE = 9,
	MSD_EXIT_INTERRUPTED = 130
};

/* Groups of verbs in the help. */
enum msd_group {
	MSD_GROUP_MODELS,
	MSD_GROUP_CALLS,
	MSD_GROUP_OBSERVE,
	MSD_GROUP_ADMINISTER,
	MSD_GROUP_OFFLINE
};

enum msd_option { /* bits: options that a verb takes besides the common ones */
		  MSD_OPT_OUTPUT = 1,
		  MSD_OPT_LOAD = 2,
		  MSD_OPT_DEVICE = 4,
		  MSD_OPT_GRAPH = 8,
		  MSD_OPT_CONVERT = 16,
		  MSD_OPT_DIR = 32,
		  MSD_OPT_BUILD = 64,
		  MSD_OPT_INSPECT = 128,
		  MSD_OPT_SPLIT = 256,
		  MSD_OPT_ERA = 512,
		  MSD_OPT_PARAMS = 1024, /* without a graph */
		  MSD_OPT_TABLE = 2048,
		  MSD_OPT_LONG = 4096,
		  MSD_OPT_LOGS = 8192,
		  MSD_OPT_RUN = 16384, /* run options of a module */
		  MSD_OPT_PULL = 32768,
		  MSD_OPT_BENCH = 65536,
		  MSD_OPT_WITH = 131072,
		  MSD_OPT_DOC = 262144,
		  MSD_OPT_OFFLINE =
			  524288, /* adds no option; the verb needs no daemon */
		  MSD_OPT_PUSH = 1048576,
		  MSD_OPT_MONITOR = 2097152,
		  MSD_OPT_TOP = 4194304,
		  MSD_OPT_CALL = 8388608,
		  MSD_OPT_TRACE = 16777216,
		  MSD_OPT_RETRY = 33554432,
		  MSD_OPT_MODEL = 67108864, /* options of a framework's model */
		  MSD_OPT_LINK = 134217728
};

struct msd_verb;

/* A parsed command line. Strings are argv's. */
struct msd_cli {
	const struct msd_verb *verb;
	const char *host;       /* NULL: $MODSER_HOST, else the default socket */
	const char *token_file; /* NULL: $MODSER_TOKEN, if set */
	const char *tls_ca;     /* PEM files; NULL: $MODSER_TLS_CA, ... */
	const char *tls_cert, *tls_key;
	bool json;
	bool replace;
	bool keep;
	bool wants_help;
	bool wants_version;
	struct msd_run_options run; /* of a module to load; --device also of a call */
	const char *device;         /* text of --device; NULL: not given */
	const char *graph;          /* files for a library; NULL: none */
	const char *params;
	const char *sha256;   /* required digest of a pull; NULL: any */
	const char *file;     /* pull: file of an artifact; NULL: its only model */
	const char *manifest; /* push: existing manifest; NULL: write one */
	const char *sign;     /* push: secret key; NULL: not signed */
	const char *auth;     /* push: names and passwords by host; NULL: none */
	const char *realm;    /* push: token hosts that may get them; NULL: none */
	const char *model;    /* --name of a model in an archive; NULL: not given */
	unsigned mlf_version; /* of an archive to write; 0: not given */
	uint32_t deadline_ms; /* 0: none */
	bool kill_on_exit;    /* call: kill its worker when the client exits */
	bool background;      /* call: run after other calls */
	uint32_t retry_ms;    /* call: retry for this time; 0: no retry */
	bool idempotent;      /* call: may run twice */
	bool trace;           /* call: print its times */
	uint32_t connect_ms;  /* until the daemon answers; 0: not given */
	const char *dir;      /* -C */
	const char *cc;       /* --cc: the compiler's command; NULL: cc */
	const char *prefix;   /* --symbol-prefix; NULL: that of the manifest */
	enum msd_split_names split_names;
	const char *split;    /* --split-params: the file; NULL: not split */
	bool header;          /* of a table in a pipe */
	bool is_long;         /* -l: all columns */
	bool doc;             /* funcs: texts of the authors */
	uint32_t connections; /* bench: 0 means 1 */
	uint32_t depth;       /* bench: calls in flight on each; 0: 1 */
	uint32_t rate;        /* bench: calls a second; 0: as fast as answers arrive */
	uint32_t time_ms;     /* bench: 0: not given */
	bool follow;          /* -f: logs */
	bool once;            /* top */
	bool has_tail;
	uint32_t tail;  /* lines */
	uint32_t every; /* monitor: one call in this many; 0: all */
	bool system_library;
	bool dot;             /* inspect: draw a graph */
	bool dump;            /* inspect: the whole StaticGraph */
	bool plan;            /* inspect: how its nodes would run here */
	bool vm;              /* inspect: listings of programs */
	bool will_run;        /* inspect: whether the host can run it */
	const char **plugins; /* --plugin, in order */
	size_t n_plugins;
	const char **with; /* --with: external data files, in order */
	size_t n_with;
	const char **libraries; /* -l, in order: libraries to link */
	size_t n_libraries;
	const char **outputs; /* -o, in order */
	size_t n_outputs;
	const char **words; /* words after the verb */
	size_t n_words;
};

struct msd_verb {
	const char *name;
	const char *synopsis; /* words and options, as in the manual */
	const char *summary;  /* one line */
	const char *help;     /* more text for --help; may be "" */
	size_t min_words, max_words;
	unsigned options; /* enum msd_option */
	enum msd_exit (*run)(const struct msd_cli *cli);
	enum msd_group group;
};

/** The table; the last row has no name. */
extern const struct msd_verb msd_verbs[];
/** The verb called @word, which may be another program's name for it; NULL: none. */
const struct msd_verb *msd_verb_find(const char *word);

enum msd_exit msd_verb_acl(const struct msd_cli *cli);
enum msd_exit msd_verb_bench(const struct msd_cli *cli);
enum msd_exit msd_verb_call(const struct msd_cli *cli);
enum msd_exit msd_verb_convert(const struct msd_cli *cli);
enum msd_exit msd_verb_completion(const struct msd_cli *cli);
enum msd_exit msd_verb_clients(const struct msd_cli *cli);
enum msd_exit msd_verb_doctor(const struct msd_cli *cli);
enum msd_exit msd_verb_devices(const struct msd_cli *cli);
enum msd_exit msd_verb_funcs(const struct msd_cli *cli);
enum msd_exit msd_verb_help(const struct msd_cli *cli);
#define MSD_CLI_INFO_WORDS 16u /* most sections in one command */
enum msd_exit msd_verb_info(const struct msd_cli *cli);
enum msd_exit msd_verb_metrics(const struct msd_cli *cli);
enum msd_exit msd_verb_stats(const struct msd_cli *cli);
enum msd_exit msd_verb_inspect(const struct msd_cli *cli);
enum msd_exit msd_verb_session(const struct msd_cli *cli);
enum msd_exit msd_verb_load(const struct msd_cli *cli);
enum msd_exit msd_verb_logs(const struct msd_cli *cli);
enum msd_exit msd_verb_monitor(const struct msd_cli *cli);
enum msd_exit msd_verb_slowlog(const struct msd_cli *cli);
enum msd_exit msd_verb_ls(const struct msd_cli *cli);
enum msd_exit msd_verb_pack(const struct msd_cli *cli);
enum msd_exit msd_verb_ping(const struct msd_cli *cli);
enum msd_exit msd_verb_profile(const struct msd_cli *cli);
enum msd_exit msd_verb_reload(const struct msd_cli *cli);
enum msd_exit msd_verb_pull(const struct msd_cli *cli);
enum msd_exit msd_verb_push(const struct msd_cli *cli);
enum msd_exit msd_verb_rollback(const struct msd_cli *cli);
enum msd_exit msd_verb_formats(const struct msd_cli *cli);
enum msd_exit msd_verb_sleep(const struct msd_cli *cli);
enum msd_exit msd_verb_show(const struct msd_cli *cli);
enum msd_exit msd_verb_cache(const struct msd_cli *cli);
enum msd_exit msd_verb_store(const struct msd_cli *cli);
enum msd_exit msd_verb_tls(const struct msd_cli *cli);
enum msd_exit msd_verb_top(const struct msd_cli *cli);
enum msd_exit msd_verb_unload(const struct msd_cli *cli);
enum msd_exit msd_verb_unpack(const struct msd_cli *cli);
enum msd_exit msd_verb_version(const struct msd_cli *cli);
enum msd_exit msd_verb_wait(const struct msd_cli *cli);

#endif
