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

/* modserd-fetch parses the rest. */
static msd_err check_source(struct msd_preload *p, const char *value,
			    struct msd_diag *d)
{
	static const char *const schemes[] = {"oci://", "https://", "http://",
					      "modser://", "file://"};

	(void)p;
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

static msd_err read_insecure(struct msd_preload *p, const char *value,
			     struct msd_diag *d)
{
	p->terms.has_insecure = true;
	if (msd_argv_flag(value, &p->terms.insecure))
		return MSD_OK;
	return msd_diag_set(d, MSD_BAD_REQUEST, "insecure %s: expected yes or no",
			    value);
}

#define AT(field) offsetof(struct msd_preload, field)
/* The keys of sections besides the run options, which follow those. */
static const struct {
	const char *name, *former; /* former: accepted and not shown */
	size_t text;               /* offset of the text in msd_preload; 0: none */
	msd_err (*read)(struct msd_preload *p, const char *value,
			struct msd_diag *d); /* NULL: any text */
	bool is_of_source;
} keys[] = {{"graph", NULL, AT(graph), NULL, false},
	    {"params", NULL, AT(params), NULL, false},
	    {"external-data", "with", AT(with), NULL, false},
	    {"source", NULL, AT(source), check_source, true},
	    {"poll", NULL, 0, read_poll, true},
	    {"policy", NULL, 0, read_policy, true},
	    /* modserd-fetch reads this file, again for each fetch. */
	    {"auth", NULL, AT(terms.auth), NULL, true},
	    {"ca", NULL, AT(terms.ca), NULL, true},
	    {"proxy", NULL, AT(terms.proxy), NULL, true},
	    {"realm", NULL, AT(terms.realm), NULL, true},
	    {"insecure", NULL, 0, read_insecure, true}};
#undef AT
_Static_assert(sizeof(keys) / sizeof(keys[0]) == MSD_SECTION_KEYS,
	       "a value for each key");

/* The index of @key, MSD_PRELOAD_KEYS if not found. */
static unsigned find_key(const char *key)
{
	const struct msd_run_key *run = msd_run_key_find(key);
	unsigned i = 0;

	if (run != NULL)
		return (unsigned)(run - msd_run_keys);
	while (i < MSD_SECTION_KEYS && strcmp(key, keys[i].name) != 0 &&
	       (keys[i].former == NULL || strcmp(key, keys[i].former) != 0))
		i++;
	return MSD_RUN_KEYS + i;
}

static msd_err read_key(struct msd_preload *p, unsigned i, const char *value,
			struct msd_diag *d)
{
	if (keys[i].text != 0)
		*(const char **)((char *)p + keys[i].text) = value;
	return keys[i].read != NULL ? keys[i].read(p, value, d) : MSD_OK;
}

msd_err msd_preload_set(struct msd_preload *p, const char *key, const char *value,
			struct msd_diag *d)
{
	const unsigned i = find_key(key);

	if (i == MSD_PRELOAD_KEYS)
		return msd_diag_set(d, MSD_BAD_REQUEST, "%s: no such key", key);
	if (p->values[i] != NULL)
		return msd_diag_set(d, MSD_BAD_REQUEST, "%s= is given twice", key);
	p->values[i] = value;
	return i < MSD_RUN_KEYS ? msd_run_option_parse(&msd_run_keys[i],
						       msd_span_of(value), &p->run, d)
				: read_key(p, i - MSD_RUN_KEYS, value, d);
}

const char *msd_preload_key(unsigned i)
{
	return i < MSD_RUN_KEYS ? msd_run_keys[i].name : keys[i - MSD_RUN_KEYS].name;
}

const char *msd_preload_former(unsigned i)
{
	return i < MSD_RUN_KEYS ? msd_run_keys[i].former
				: keys[i - MSD_RUN_KEYS].former;
}

bool msd_preload_is_of_source(unsigned i)
{
	return i >= MSD_RUN_KEYS && keys[i - MSD_RUN_KEYS].is_of_source;
}

const char *msd_preload_shown(const char *key)
{
	const unsigned i = find_key(key);

	return i < MSD_PRELOAD_KEYS ? msd_preload_key(i) : NULL;
}

bool msd_preload_has_key(const char *key)
{
	return find_key(key) < MSD_PRELOAD_KEYS;
}

bool msd_preload_is_how(const char *key)
{
	const struct msd_run_key *run = msd_run_key_find(key);

	return run != NULL && (run->fronts & MSD_RUN_LOAD) != 0;
}
