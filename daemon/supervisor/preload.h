#ifndef MSD_SUPERVISOR_PRELOAD_H
#define MSD_SUPERVISOR_PRELOAD_H
/*
 * `--load NAME=FILE[,KEY=VALUE]...`, or `module NAME {file = FILE KEY = VALUE ...}` of
 * a configuration file: a module that the daemon loads at its start, from files of its
 * own machine, or, by such a section alone, from where `source` says (supply.h). The
 * keys are a table in preload_keys.c.
 */
#include <stdint.h>

#include "daemon/supervisor/fetch/terms.h"
#include "daemon/supervisor/module/batching.h"
#include "daemon/supervisor/module/run_limit.h"
#include "daemon/supervisor/module/spread.h"
#include "proto/bytes.h"
#include "proto/diag.h"
#include "proto/era_word.h"
#include "proto/fill_word.h"
#include "proto/model_words.h"
#include "proto/sandbox_word.h"

#define MSD_PRELOAD_KEYS 23u

struct msd_house;
struct msd_load;
struct msd_said;

/* Strings lie in `text`, or with whom gave them. */
struct msd_preload {
	char *text;         /* owned, of the command line or of who has said some keys;
			     * NULL: of a configuration file */
	const char *origin; /* where it was said, for people */
	const char *name;
	const char *file;   /* NULL: it comes from its source */
	const char *source; /* a URI that the daemon asks by itself; NULL: none */
	uint64_t poll_ms;   /* how often it is asked again; 0: never */
	struct msd_fetch_terms terms;
	uint64_t keep_alive_ms; /* it sleeps when nobody calls it for so long; 0: never
				 */
	const char *graph;      /* beside the library; NULL: none */
	const char *params;
	const char *with; /* files that a model names, ':' between them; NULL: none */
	struct msd_spread spread; /* of none: none was named */
	uint32_t workers;         /* worker processes; 0: not said */
	enum msd_era_word era;
	enum msd_fill_word fill;
	struct msd_model_words words;
	enum msd_sandbox_word sandbox; /* UNSAID: as all modules */
	bool tvm_inputs;               /* as msd_load has it */
	struct msd_batching batching;
	struct msd_run_limit max_run;
	const char *values[MSD_PRELOAD_KEYS]; /* of the keys, as they were said */
};

/** Read the option's value. End with msd_preload_finish() in every case. Errors:
 * MSD_BAD_REQUEST (the text says what was expected), MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_preload_read(const char *text, struct msd_preload *ret,
					struct msd_diag *d);
/** One key of it, whose value is borrowed; what a store kept is read the same way.
 * MSD_BAD_REQUEST, for one that was there before, too. */
MSD_MUST_CHECK msd_err msd_preload_set(struct msd_preload *p, const char *key,
				       const char *value, struct msd_diag *d);
/** The keys that @said has, copied: those that say how a module is run, not what it is
 * loaded from, nor what it may. End with msd_preload_finish() in every case. Errors:
 * MSD_BAD_REQUEST (the text names the key, and what was expected), MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_preload_say(const struct msd_said *said, uint32_t n,
				       struct msd_preload *ret, struct msd_diag *d);
/** As @base has it, but for the keys of @more; nothing is owned, and all is borrowed
 * from the two. MSD_BAD_REQUEST: they cannot stand together. */
MSD_MUST_CHECK msd_err msd_preload_merge(const struct msd_preload *base,
					 const struct msd_preload *more,
					 struct msd_preload *ret, struct msd_diag *d);
bool msd_preload_has_keys(const struct msd_preload *p);
/** The name of the key @i of MSD_PRELOAD_KEYS. Static. */
const char *msd_preload_key(unsigned i);
bool msd_preload_has_key(const char *key);
/** It says how a module is run: not what it is loaded from, nor what it may. */
bool msd_preload_is_how(const char *key);
/** The number of what the section says, all of it: of two that differ another one. 0:
 * it is none, but keys alone. */
uint64_t msd_preload_section(const struct msd_preload *p);
/** How it is to be loaded, whatever it is loaded from: the rest of @ret is zero. */
void msd_preload_options(const struct msd_preload *p, struct msd_load *ret);
/** That its keys can stand together. MSD_BAD_REQUEST. */
MSD_MUST_CHECK msd_err msd_preload_check(const struct msd_preload *p,
					 struct msd_diag *d);
/** Append the module as a configuration file has it, on one line without its end. */
void msd_preload_write(const struct msd_preload *p, struct msd_buf *ret);
/** Free the text; legal more than once. */
void msd_preload_finish(struct msd_preload *p);
/** Load its file, in place of a module that has the name when @replace says so. Errors:
 * those of msd_module_load(). */
MSD_MUST_CHECK msd_err msd_preload_load(struct msd_house *house,
					const struct msd_preload *p, bool replace,
					struct msd_diag *d);
/** The same. What cannot be loaded leaves the daemon up, and a module that serves; or
 * else the module is FAILED, with its cause. The log tells that, and @d. */
msd_err msd_preload_start(struct msd_house *house, const struct msd_preload *p,
			  bool replace, struct msd_diag *d);

#endif
