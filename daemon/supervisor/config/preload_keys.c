/* The keys of a module that is loaded at the start: how the value of each key is
 * read. */
#include <string.h>
#include <strings.h>

#include "daemon/supervisor/config/preload.h"
#include "proto/base/argv.h"
#include "proto/base/duration.h"

#define LEAST_POLL_MS 5000u

/* @word stands for the number 0. */
static const char *zero_or(const char *value, const char *word)
{
	return strcmp(value, word) == 0 ? "0" : value;
}

static msd_err read_device(struct msd_preload *p, const char *value, struct msd_diag *d)
{
	if (msd_device_list_parse(msd_span_of(value), &p->device_list))
		return MSD_OK;
	return msd_diag_set(d, MSD_BAD_REQUEST, "device %s: " MSD_DEVICE_LIST_EXPECTED,
			    value);
}

static msd_err read_graph(struct msd_preload *p, const char *value, struct msd_diag *d)
{
	(void)d;
	p->graph = value;
	return MSD_OK;
}

static msd_err read_params(struct msd_preload *p, const char *value, struct msd_diag *d)
{
	(void)d;
	p->params = value;
	return MSD_OK;
}

static msd_err read_with(struct msd_preload *p, const char *value, struct msd_diag *d)
{
	(void)d;
	p->with = value;
	return MSD_OK;
}

static msd_err read_workers(struct msd_preload *p, const char *value,
			    struct msd_diag *d)
{
	if (msd_argv_count(value, &p->workers))
		return MSD_OK;
	return msd_diag_set(d, MSD_BAD_REQUEST,
			    "workers %s: expected a number of processes, 1 or more",
			    value);
}

static msd_err read_era(struct msd_preload *p, const char *value, struct msd_diag *d)
{
	const struct msd_span word = msd_span_of(value);

	if (msd_abi_word_parse(word, &p->era))
		return MSD_OK;
	return msd_diag_set(d, MSD_BAD_REQUEST, "abi %s: expected " MSD_ERA_WORDS,
			    value);
}

static msd_err read_fill(struct msd_preload *p, const char *value, struct msd_diag *d)
{
	const struct msd_span word = msd_span_of(value);

	if (msd_fill_word_parse(word, &p->fill))
		return MSD_OK;
	return msd_diag_set(d, MSD_BAD_REQUEST,
			    "missing-weights %s: expected " MSD_FILL_WORDS, value);
}

static msd_err read_format(struct msd_preload *p, const char *value, struct msd_diag *d)
{
	return msd_model_words_format(&p->words, msd_span_of(value), d);
}

static msd_err read_input(struct msd_preload *p, const char *value, struct msd_diag *d)
{
	return msd_model_words_input(&p->words, msd_span_of(value), d);
}

static msd_err read_sandbox(struct msd_preload *p, const char *value,
			    struct msd_diag *d)
{
	const struct msd_span word = msd_span_of(value);

	if (msd_sandbox_word_parse(word, &p->sandbox))
		return MSD_OK;
	return msd_diag_set(d, MSD_BAD_REQUEST,
			    "sandbox %s: expected " MSD_SANDBOX_WORDS, value);
}

static msd_err read_tvm_inputs(struct msd_preload *p, const char *value,
			       struct msd_diag *d)
{
	if (msd_argv_flag(value, &p->tvm_inputs))
		return MSD_OK;
	return msd_diag_set(d, MSD_BAD_REQUEST,
			    "ignore-unknown-inputs %s: expected yes or no", value);
}

/* modserd-fetch parses the rest. */
static msd_err read_source(struct msd_preload *p, const char *value, struct msd_diag *d)
{
	static const char *const schemes[] = {"oci://", "https://", "http://",
					      "modser://", "file://"};

	p->source = value;
	for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
		if (strncasecmp(value, schemes[i], strlen(schemes[i])) == 0)
			return MSD_OK;
	}
	return msd_diag_set(d, MSD_BAD_REQUEST,
			    "source %s: expected https://, oci://, modser://, file:// "
			    "or, on this machine, http://",
			    value);
}

static msd_err read_poll(struct msd_preload *p, const char *value, struct msd_diag *d)
{
	msd_err err = msd_duration_parse(zero_or(value, "off"), &p->poll_ms, d);

	if (err == MSD_OK && p->poll_ms > 0 && p->poll_ms < LEAST_POLL_MS) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "poll %s: expected 5s or more, or off", value);
	}
	return err;
}

static msd_err read_policy(struct msd_preload *p, const char *value, struct msd_diag *d)
{
	const struct msd_span word = msd_span_of(value);

	p->terms.has_policy = msd_policy_parse(word, &p->terms.policy);
	if (p->terms.has_policy)
		return MSD_OK;
	return msd_diag_set(d, MSD_BAD_REQUEST,
			    "policy %s: expected signed, digest or unsigned", value);
}

static msd_err read_keep_alive(struct msd_preload *p, const char *value,
			       struct msd_diag *d)
{
	return msd_duration_parse(zero_or(value, "off"), &p->keep_alive_ms, d);
}

static msd_err read_auth(struct msd_preload *p, const char *value, struct msd_diag *d)
{
	(void)d;
	p->terms.auth = value; /* modserd-fetch reads it, again for each fetch */
	return MSD_OK;
}

static msd_err read_ca(struct msd_preload *p, const char *value, struct msd_diag *d)
{
	(void)d;
	p->terms.ca = value;
	return MSD_OK;
}

static msd_err read_proxy(struct msd_preload *p, const char *value, struct msd_diag *d)
{
	(void)d;
	p->terms.proxy = value;
	return MSD_OK;
}

static msd_err read_realm(struct msd_preload *p, const char *value, struct msd_diag *d)
{
	(void)d;
	p->terms.realm = value;
	return MSD_OK;
}

static msd_err read_insecure(struct msd_preload *p, const char *value,
			     struct msd_diag *d)
{
	p->terms.has_insecure = true;
	if (msd_argv_flag(value, &p->terms.insecure))
		return MSD_OK;
	return msd_diag_set(d, MSD_BAD_REQUEST, "insecure %s: expected yes or no",
			    value);
}

static msd_err read_batch(struct msd_preload *p, const char *value, struct msd_diag *d)
{
	return msd_batching_parse_rows(value, &p->batching, d);
}

static msd_err read_within(struct msd_preload *p, const char *value, struct msd_diag *d)
{
	return msd_batching_parse_within(zero_or(value, "off"), &p->batching, d);
}

static msd_err read_max_run(struct msd_preload *p, const char *value,
			    struct msd_diag *d)
{
	return msd_run_limit_parse(zero_or(value, "unlimited"), &p->max_run, d);
}

static const struct {
	const char *name, *former; /* former: accepted and not shown */
	msd_err (*read)(struct msd_preload *p, const char *value, struct msd_diag *d);
	bool is_how; /* a client with the right to load may set it for one load */
} keys[] = {{"device", NULL, read_device, true},
	    {"graph", NULL, read_graph, false},
	    {"params", NULL, read_params, false},
	    {"external-data", "with", read_with, false},
	    {"workers", "instances", read_workers, true},
	    {"abi", "era", read_era, true},
	    {"ignore-unknown-inputs", "tvm_inputs", read_tvm_inputs, true},
	    {"missing-weights", "fill", read_fill, true},
	    {"format", NULL, read_format, true},
	    {"input", NULL, read_input, true},
	    {"source", NULL, read_source, false},
	    {"poll", NULL, read_poll, false},
	    {"keep-alive", "keep_alive", read_keep_alive, false},
	    {"policy", NULL, read_policy, false},
	    {"auth", NULL, read_auth, false},
	    {"ca", NULL, read_ca, false},
	    {"proxy", NULL, read_proxy, false},
	    {"realm", NULL, read_realm, false},
	    {"insecure", NULL, read_insecure, false},
	    {"sandbox", NULL, read_sandbox, false},
	    {"batch", NULL, read_batch, true},
	    {"batch-delay", "within", read_within, true},
	    {"max-run", "max_run", read_max_run, true}};
#define N_KEYS (sizeof(keys) / sizeof(keys[0]))
_Static_assert(N_KEYS == MSD_PRELOAD_KEYS, "a value for each key");

/* The row of @key, N_KEYS if not found. */
static unsigned find_key(const char *key)
{
	unsigned i = 0;

	while (i < N_KEYS && strcmp(key, keys[i].name) != 0 &&
	       (keys[i].former == NULL || strcmp(key, keys[i].former) != 0))
		i++;
	return i;
}

msd_err msd_preload_set(struct msd_preload *p, const char *key, const char *value,
			struct msd_diag *d)
{
	unsigned i = find_key(key);

	if (i == N_KEYS)
		return msd_diag_set(d, MSD_BAD_REQUEST, "%s: no such key", key);
	if (p->values[i] != NULL)
		return msd_diag_set(d, MSD_BAD_REQUEST, "%s= is given twice", key);
	p->values[i] = value;
	return keys[i].read(p, value, d);
}

const char *msd_preload_key(unsigned i)
{
	return keys[i].name;
}

const char *msd_preload_former(unsigned i)
{
	return keys[i].former;
}

bool msd_preload_is_former(const char *key)
{
	const unsigned i = find_key(key);

	return i < N_KEYS && strcmp(keys[i].name, key) != 0;
}

bool msd_preload_has_key(const char *key)
{
	return find_key(key) < N_KEYS;
}

bool msd_preload_is_how(const char *key)
{
	const unsigned i = find_key(key);

	return i < N_KEYS && keys[i].is_how;
}
