#ifndef MSD_PROTO_RUN_OPTIONS_H
#define MSD_PROTO_RUN_OPTIONS_H
/*
 * Run options: how the workers of a module run it. Each key is one row of
 * MSD_RUN_KEY_MAP. The command lines, sections of the configuration, module.load,
 * module.pull, HTTP loads, the store's record, rollback, worker.open and libmodser
 * parse, print and copy options only by these rows.
 *
 * A new key is a row and its member here, a field of the same name in
 * modser_load_options and modser_pull_options (client/modser.h), and the code that
 * obeys it. tests/daemon/run_keys.py checks the documents and the Python arguments that
 * must name it, too.
 */
#include "proto/base/bytes.h"
#include "proto/base/diag.h"
#include "proto/value.h"
#include "proto/words/abi_word.h"
#include "proto/words/device_list.h"
#include "proto/words/engine_word.h"
#include "proto/words/fill_word.h"
#include "proto/words/model_words.h"
#include "proto/words/sandbox_word.h"

#define MSD_BATCH_ROWS_MAX 65536u
#define MSD_BATCH_DELAY_MAX_MS 10000u
#define MSD_THREADS_MAX 1024u

/* A time that may be 0 although it was given. */
struct msd_given_ms {
	bool is_given;
	uint64_t ms;
};

static inline uint64_t msd_given_ms_or(struct msd_given_ms t, uint64_t otherwise_ms)
{
	return t.is_given ? t.ms : otherwise_ms;
}

/* All zeros: nothing was given. */
struct msd_run_options {
	struct msd_device_list device_list; /* empty: the module's code decides */
	uint32_t workers;                   /* processes; 0: one for each device */
	enum msd_abi_word era;
	enum msd_fill_word fill;
	bool tvm_inputs; /* an instance ignores inputs that the model lacks */
	struct msd_model_words words;
	enum msd_engine_word engine;
	uint32_t threads;                /* in a pool; 0: the daemon's default */
	uint32_t batch_rows;             /* of joined calls; 0: each call runs alone */
	struct msd_given_ms batch_delay; /* that a call waits for others to join */
	struct msd_given_ms max_run;     /* of a call; 0 ms: unlimited */
	struct msd_given_ms keep_alive;  /* idle time before it sleeps; 0 ms: never */
	enum msd_sandbox_word sandbox;   /* UNSAID: the default of all modules */
};

/* Fronts that accept a key besides sections and --load: */
#define MSD_RUN_LOAD                                                                   \
	1u                /* clients, for one load: module.load, module.pull, HTTP,    \
			     libmodser, Python, modser; and the store's record */
#define MSD_RUN_WORKER 2u /* worker.open */
#define MSD_RUN_BOTH (MSD_RUN_LOAD | MSD_RUN_WORKER)

/*
 * X(NAME, member, KIND, parameter, fronts, key, former key, key on the wire,
 *   field in client/modser.h, verbs of modser (MSD_OPT_...), placeholder, meaning)
 *
 * KIND is DEVICES, COUNT, WORD, FLAG, TIME or TEXT; run_options.c has the parameters.
 * First the keys that clients may give, for one load:
 */
#define MSD_RUN_CLIENT_KEY_MAP(X)                                                      \
	X(DEVICE, device_list, DEVICES, NULL, MSD_RUN_LOAD, "device", NULL, "device",  \
	  device, DEVICE, "DEVICE", "where it runs, such as cpu or opencl:0")          \
	X(WORKERS, workers, COUNT, &processes, MSD_RUN_LOAD, "workers", "instances",   \
	  "workers", workers, RUN, "N",                                                \
	  "number of processes; each runs one call at a time (1)")                     \
	X(ABI, era, WORD, &msd_abi_words, MSD_RUN_BOTH, "abi", "era", "era", abi, ERA, \
	  "ABI",                                                                       \
	  "classic (TVM 0.6 to 0.20) or ffi, for a library without TVM symbols")       \
	X(TVM_INPUTS, tvm_inputs, FLAG, NULL, MSD_RUN_BOTH, "ignore-unknown-inputs",   \
	  "tvm_inputs", "tvm_inputs", ignore_unknown_inputs, RUN, "",                  \
	  "set_input ignores names that the model lacks")                              \
	X(FILL, fill, WORD, &msd_fill_words, MSD_RUN_BOTH, "missing-weights", "fill",  \
	  "fill", missing_weights, RUN, "WORD",                                        \
	  "zero or seeded weights for a model without its own")                        \
	X(FORMAT, words.format, TEXT, &formats, MSD_RUN_BOTH, "format", NULL,          \
	  "format", format, MODEL, "FORMAT",                                           \
	  "read the model in this format, without detection")                          \
	X(INPUT, words.input, TEXT, &inputs, MSD_RUN_BOTH, "input", NULL, "input",     \
	  input, MODEL, "INPUT",                                                       \
	  "shape of an input: x=float32[1,3,224,224]; repeatable")                     \
	X(OUTPUTS, words.outputs, TEXT, &outputs, MSD_RUN_BOTH, "outputs", NULL,       \
	  "outputs", outputs, MODEL, "NAMES",                                          \
	  "tensors that the model returns, with commas between them")                  \
	X(SIGNATURE, words.signature, TEXT, &signatures, MSD_RUN_BOTH, "signature",    \
	  NULL, "signature", signature, MODEL, "NAME",                                 \
	  "the signature of a SavedModel (serving_default)")                           \
	X(ENGINE, engine, WORD, &msd_engine_words, MSD_RUN_BOTH, "engine", NULL,       \
	  "engine", engine, RUN, "ENGINE",                                             \
	  "auto, native or reference: the kernels of a framework's model")             \
	X(THREADS, threads, COUNT, &pool, MSD_RUN_BOTH, "threads", NULL, "threads",    \
	  threads, RUN, "N", "threads of each process (its share of the cores)")       \
	X(BATCH, batch_rows, COUNT, &rows, MSD_RUN_BOTH, "batch", NULL, "batch",       \
	  batch_rows, RUN, "N", "join waiting calls up to N rows and run them as one") \
	X(BATCH_DELAY, batch_delay, TIME, &delay, MSD_RUN_BOTH, "batch-delay",         \
	  "within", "within_ms", batch_delay_ms, RUN, "TIME",                          \
	  "with --batch: how long a call waits for others (0)")                        \
	X(MAX_RUN, max_run, TIME, &run, MSD_RUN_LOAD, "max-run", "max_run",            \
	  "max_run_ms", max_run_ms, RUN, "TIME",                                       \
	  "kill a worker if its call runs longer, or unlimited (10m)")                 \
	X(KEEP_ALIVE, keep_alive, TIME, &idle, MSD_RUN_LOAD, "keep-alive",             \
	  "keep_alive", "keep_alive_ms", keep_alive_ms, RUN, "TIME",                   \
	  "end the processes after this time without calls, or off (off)")
/* The key of sections and --load alone, which is a permission. */
#define MSD_RUN_OWN_KEY_MAP(X)                                                         \
	X(SANDBOX, sandbox, WORD, &msd_sandbox_words, MSD_RUN_WORKER, "sandbox", NULL, \
	  "sandbox", , , "", "")
#define MSD_RUN_KEY_MAP(X) MSD_RUN_CLIENT_KEY_MAP(X) MSD_RUN_OWN_KEY_MAP(X)

enum msd_run_key_id {
#define MSD_RUN_KEY_ENUM(NAME, ...) MSD_RUN_##NAME##_KEY,
	MSD_RUN_KEY_MAP(MSD_RUN_KEY_ENUM)
#undef MSD_RUN_KEY_ENUM
		MSD_RUN_KEYS
};

struct msd_run_kind;

struct msd_run_key {
	const char *name, *wire;
	const char *former; /* accepted and not shown; NULL: none */
	const struct msd_run_kind *kind;
	size_t field;          /* offset in msd_run_options */
	unsigned fronts;       /* MSD_RUN_LOAD, MSD_RUN_WORKER */
	const void *parameter; /* of the kind */
};

/** All keys, in the order of the map. */
extern const struct msd_run_key msd_run_keys[MSD_RUN_KEYS];

/** The key that is called @name, or was formerly; NULL if there is none. */
const struct msd_run_key *msd_run_key_find(const char *name);
/** The key of these @fronts that is called @wire in messages; NULL: none. */
const struct msd_run_key *msd_run_key_of_wire(struct msd_span wire, unsigned fronts);
/**
 * Set the option from the text of a command line, a section or a record. A list is
 * appended to. Errors: MSD_BAD_REQUEST; the text begins with the key and the value.
 */
MSD_MUST_CHECK msd_err msd_run_option_parse(const struct msd_run_key *key,
					    struct msd_span text,
					    struct msd_run_options *ret,
					    struct msd_diag *d);
/** The same from the value of a message; the text begins with the key on the wire. */
MSD_MUST_CHECK msd_err msd_run_option_read(const struct msd_run_key *key,
					   const struct msd_wire_value *value,
					   struct msd_run_options *ret,
					   struct msd_diag *d);
bool msd_run_option_is_given(const struct msd_run_key *key,
			     const struct msd_run_options *o);
/** Append the text that msd_run_option_parse() reads. The option must be given. */
void msd_run_option_print(const struct msd_run_key *key,
			  const struct msd_run_options *o, struct msd_buf *ret);

/** The number of given options of @fronts. */
uint32_t msd_run_options_count(const struct msd_run_options *o, unsigned fronts);
/** Append those as pairs of a msgpack map. */
void msd_run_options_pack(const struct msd_run_options *o, unsigned fronts,
			  struct msd_buf *ret);
/** Append a map of those: {key: text as printed}. */
void msd_run_options_describe(const struct msd_run_options *o, unsigned fronts,
			      struct msd_buf *ret);
/**
 * Set the options of @fronts from @map, scanned msgpack; other keys are ignored.
 * Errors: MSD_BAD_REQUEST.
 */
MSD_MUST_CHECK msd_err msd_run_options_read(struct msd_span map, unsigned fronts,
					    struct msd_run_options *ret,
					    struct msd_diag *d);
/** Check that the options fit together. Errors: MSD_BAD_REQUEST. */
MSD_MUST_CHECK msd_err msd_run_options_check(const struct msd_run_options *o,
					     struct msd_diag *d);

#endif
