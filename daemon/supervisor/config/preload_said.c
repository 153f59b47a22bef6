/* The keys that a client gives for one load; they override those of the configuration
 * or the store. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/supervisor/config/preload.h"
#include "daemon/supervisor/edge/edge.h"

static msd_err refuse(const char *key, struct msd_diag *d)
{
	char words[256];
	size_t n = 0;

	for (unsigned i = 0; i < MSD_PRELOAD_KEYS; i++) {
		const char *word = msd_preload_key(i);

		if (msd_preload_is_how(word) && n + strlen(word) + 3 <= sizeof(words))
			n += (size_t)sprintf(words + n, ", %s", word);
	}
	return msd_diag_set(d, MSD_BAD_REQUEST,
			    "%s: cannot be set for one load: expected %s", key,
			    words + 2);
}

/* The strings follow each other, each with its NUL. */
static const char *keep(char **at, const char *text)
{
	const size_t n = strlen(text) + 1;
	const char *kept = memcpy(*at, text, n);

	*at += n;
	return kept;
}

static msd_err set(struct msd_preload *p, const char *key, const char *value,
		   struct msd_diag *d)
{
	if (!msd_preload_is_how(key))
		return refuse(key, d);
	const msd_err err = msd_preload_set(p, key, value, d);
	return err == MSD_OK ? err : msd_diag_wrap(d, err, "%s = %s", key, value);
}

msd_err msd_preload_say(const struct msd_said *said, uint32_t n,
			struct msd_preload *ret, struct msd_diag *d)
{
	msd_err err = MSD_OK;
	size_t bytes = 1;

	for (uint32_t i = 0; i < n; i++)
		bytes += strlen(said[i].value) + 1;
	*ret = (struct msd_preload){.text = malloc(bytes)};
	if (ret->text == NULL)
		return msd_diag_no_memory(d);
	char *at = ret->text;
	for (uint32_t i = 0; err == MSD_OK && i < n; i++)
		err = set(ret, said[i].key, keep(&at, said[i].value), d);
	return err;
}

bool msd_preload_has_keys(const struct msd_preload *p)
{
	for (unsigned i = 0; i < MSD_PRELOAD_KEYS; i++) {
		if (p->values[i] != NULL)
			return true;
	}
	return false;
}

msd_err msd_preload_merge(const struct msd_preload *base,
			  const struct msd_preload *more, struct msd_preload *ret,
			  struct msd_diag *d)
{
	msd_err err = MSD_OK;

	*ret = (struct msd_preload){
		.origin = base->origin, .name = base->name, .file = base->file};
	for (unsigned i = 0; err == MSD_OK && i < MSD_PRELOAD_KEYS; i++) {
		const char *value =
			more->values[i] != NULL ? more->values[i] : base->values[i];
		if (value != NULL)
			err = msd_preload_set(ret, msd_preload_key(i), value, d);
	}
	return err == MSD_OK ? msd_run_options_check(&ret->run, d) : err;
}
