#ifndef MSD_CLI_CLI_H
#define MSD_CLI_CLI_H
/*
 * The command line `modser`: what all verbs share. A verb is one row in verbs.c and one
 * function that gets the words and options and returns the exit code.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pack/split_params.h"
#include "proto/era_word.h"
#include "proto/fill_word.h"
#include "proto/model_words.h"

/* Exit codes, documented in modser(1). */
enum msd_exit {
	MSD_EXIT_OK = 0,
	MSD_EXIT_REMOTE = 1,  /* the daemon, the module or the function says no */
	MSD_EXIT_USAGE = 2,   /* the command line or a file given on it */
	MSD_EXIT_CONNECT = 3, /* no connection, or it was lost */
	MSD_EXIT_NOT_FOUND = 4,
	MSD_EXIT_NOT_READY = 5, /* or past the deadline */
	MSD_EXIT_REFUSED = 6,
	MSD_EXIT_NOT_VERIFIED = 7, /* not what was promised */
	MSD_EXIT_INTERRUPTED = 130
};

enum msd_option { /* bits: which options a verb takes besides the common ones */
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
		  MSD_OPT_RUN = 16384, /* how a module runs */
		  MSD_OPT_PULL = 32768,
		  MSD_OPT_BENCH = 65536,
		  MSD_OPT_WITH = 131072,
		  MSD_OPT_DOC = 262144,
		  MSD_OPT_OFFLINE = 524288, /* takes none: it needs no daemon */
		  MSD_OPT_PUSH = 1048576,
		  MSD_OPT_MONITOR = 2097152,
		  MSD_OPT_TOP = 4194304,
		  MSD_OPT_CALL = 8388608,
		  MSD_OPT_TRACE = 16777216,
		  MSD_OPT_RETRY = 33554432,
		  MSD_OPT_MODEL = 67108864, /* what a framework's model is */
		  MSD_OPT_LINK = 134217728
};

struct msd_verb;

/* A parsed command line. Strings are argv's. */
struct msd_cli {
	const struct msd_verb *verb;
	const char *host;       /* NULL: MODSER_HOST, else the default socket */
	const char *token_file; /* NULL: $MODSER_TOKEN, when it is set */
	const char *tls_ca;     /* PEM files; NULL: $MODSER_TLS_CA, ... */
	const char *tls_cert, *tls_key;
	bool json;
	bool replace;
	bool tvm_inputs;
	bool keep;
	bool wants_help;
	bool wants_version;
	uint32_t workers;        /* worker processes of a module; 0: not said */
	uint32_t batch_rows;     /* that calls may be joined to; 0: not said */
	uint32_t batch_ms;       /* that a call waits for others; 0: not at all */
	int64_t max_run_ms;      /* of a call; 0: not said, below 0: without end */
	const char *device;      /* NULL: none was named */
	enum msd_era_word era;   /* unsaid: the library's symbols tell */
	enum msd_fill_word fill; /* unsaid: a model without weights is refused */
	struct msd_model_words model_words; /* --format, --input */
	const char *graph;                  /* files beside a library; NULL: none */
	const char *params;
	const char *sha256;   /* of what is pulled; NULL: any */
	const char *manifest; /* push: its file; NULL: one is written */
	const char *sign;     /* push: a secret key; NULL: nobody signs */
	const char *auth;     /* push: names and passwords by host; NULL: none */
	const char *realm;    /* push: hosts of tokens that may have them; NULL: none */
	const char *model;    /* --name of a model in an archive; NULL: none */
	unsigned mlf_version; /* of an archive to write; 0: not said */
	uint32_t deadline_ms; /* 0: none */
	bool kill_on_exit;    /* call: its worker, when it is left */
	bool background;      /* call: others come first */
	uint32_t retry_ms;    /* call: sent again for so long; 0: once */
	bool idempotent;      /* call: it may run twice */
	bool trace;           /* call: where its time went */
	uint32_t connect_ms;  /* until the daemon has answered; 0: not said */
	const char *dir;      /* -d */
	const char *cc;       /* --cc: the compiler's command, NULL: cc */
	const char *prefix;   /* --symbol-prefix, NULL: the manifest's */
	enum msd_split_names split_names;
	const char *split;    /* --split-params: the file, NULL: parameters stay */
	bool header;          /* of a table in a pipe */
	bool is_long;         /* -l: all columns */
	bool doc;             /* funcs: what their authors say */
	uint32_t connections; /* bench: 0, 1 */
	uint32_t depth;       /* bench: calls in flight on each; 0: 1 */
	uint32_t rate;        /* bench: calls a second; 0: as answers come */
	uint32_t time_ms;     /* bench: 0: not said */
	bool follow;          /* -f: logs */
	bool once;            /* top */
	bool has_tail;
	uint32_t tail;  /* lines */
	uint32_t every; /* monitor: one of so many; 0: all */
	bool system_library;
	bool dot;             /* inspect: a picture */
	bool dump;            /* inspect: all of a StaticGraph */
	bool vm;              /* inspect: listings of programs */
	bool will_run;        /* inspect: whether host runs it */
	const char **plugins; /* --plugin, in order */
	size_t n_plugins;
	const char **with; /* --with: files that a model names, in order */
	size_t n_with;
	const char **libraries; /* -l, in order: what is linked with */
	size_t n_libraries;
	const char **outputs; /* -o, in order */
	size_t n_outputs;
	const char **words; /* after the verb */
	size_t n_words;
};

struct msd_verb {
	const char *name;
	const char *synopsis; /* words and options, as in the manual */
	const char *summary;  /* one line */
	const char *help;     /* what --help adds; may be "" */
	size_t min_words, max_words;
	unsigned options; /* enum msd_option */
	enum msd_exit (*run)(const struct msd_cli *cli);
};

/** The table, ended by a row without a name. */
extern const struct msd_verb msd_verbs[];
/** The verb called @word, which may be what other programs call it; NULL: none. */
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
#define MSD_CLI_INFO_WORDS 16u /* sections at a time */
enum msd_exit msd_verb_info(const struct msd_cli *cli);
enum msd_exit msd_verb_metrics(const struct msd_cli *cli);
enum msd_exit msd_verb_stats(const struct msd_cli *cli);
enum msd_exit msd_verb_inspect(const struct msd_cli *cli);
enum msd_exit msd_verb_instance(const struct msd_cli *cli);
enum msd_exit msd_verb_load(const struct msd_cli *cli);
enum msd_exit msd_verb_logs(const struct msd_cli *cli);
enum msd_exit msd_verb_monitor(const struct msd_cli *cli);
enum msd_exit msd_verb_slowlog(const struct msd_cli *cli);
enum msd_exit msd_verb_ls(const struct msd_cli *cli);
enum msd_exit msd_verb_pack(const struct msd_cli *cli);
enum msd_exit msd_verb_ping(const struct msd_cli *cli);
enum msd_exit msd_verb_reload(const struct msd_cli *cli);
enum msd_exit msd_verb_pull(const struct msd_cli *cli);
enum msd_exit msd_verb_push(const struct msd_cli *cli);
enum msd_exit msd_verb_rollback(const struct msd_cli *cli);
enum msd_exit msd_verb_serializers(const struct msd_cli *cli);
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
