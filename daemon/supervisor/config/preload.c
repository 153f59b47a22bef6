/*
 * Modules that are loaded at the start.
 *
 * Happy path: the option is split into name, file and keys, and each key's row reads
 * its value. The module is LOADING while a thread builds one source from its files;
 * then it is loaded like an upload. Failures: an invalid option stops the start. A
 * file that cannot be read makes the module FAILED, with the cause.
 */
#include "daemon/supervisor/config/preload.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/limits.h"
#include "daemon/log.h"
#include "daemon/supervisor/config/config_text.h"
#include "daemon/supervisor/module/life/catalog.h"
#include "daemon/supervisor/source/source_job.h"
#include "proto/name.h"
#include "store/digest.h"

#define EXPECTED                                                                       \
	"expected NAME=FILE[,KEY=VALUE]..., NAME of letters, digits and ._-, KEY one " \
	"of %s"

static msd_err refuse_form(const char *key, struct msd_diag *d)
{
	struct msd_buf keys = {0};
	const char *separator = "";

	for (unsigned i = 0; i < MSD_PRELOAD_KEYS; i++) {
		if (!msd_preload_is_of_source(i)) {
			msd_buf_printf(&keys, "%s%s", separator, msd_preload_key(i));
			separator = ", ";
		}
	}
	msd_buf_put(&keys, "", 1);
	const char *all = keys.bad ? "" : (const char *)keys.p;
	const msd_err err =
		key == NULL ? msd_diag_set(d, MSD_BAD_REQUEST, EXPECTED, all)
			    : msd_diag_set(d, MSD_BAD_REQUEST,
					   "%s=: no such key; " EXPECTED, key, all);
	msd_buf_finish(&keys);
	return err;
}

uint64_t msd_preload_section(const struct msd_preload *p)
{
	struct msd_digest digest;
	struct msd_buf text = {0};
	uint64_t number = 0;

	if (p->name == NULL)
		return 0;
	msd_preload_write(p, &text);
	if (!text.bad) {
		msd_digest_of((struct msd_span){text.p, text.n}, &digest);
		memcpy(&number, digest.b, sizeof(number));
	}
	msd_buf_finish(&text);
	return number;
}

void msd_preload_options(const struct msd_preload *p, struct msd_load *ret)
{
	*ret = (struct msd_load){
		.source = {.fd = -1}, .section = msd_preload_section(p), .run = p->run};
}

static bool has_terms(const struct msd_fetch_options *t)
{
	return t->has_policy || t->has_insecure || t->auth != NULL || t->ca != NULL ||
	       t->proxy != NULL || t->realm != NULL;
}

msd_err msd_preload_check(const struct msd_preload *p, struct msd_diag *d)
{
	const bool has_file = p->file != NULL, has_source = p->source != NULL;
	const struct {
		bool is_wrong;
		const char *why;
	} rules[] = {
		{!has_file && !has_source, "expected file = or source ="},
		{has_file && has_source,
		 "file and source exclude each other: give one of them"},
		{has_source &&
			 (p->graph != NULL || p->params != NULL || p->with != NULL),
		 "graph, params and external-data need file, not source"},
		{p->with != NULL && (p->graph != NULL || p->params != NULL),
		 "external-data is for a framework's model, graph and params are for a "
		 "library: give one of them"},
		{!has_source && p->poll_ms > 0, "poll needs source ="},
		{!has_source && has_terms(&p->terms),
		 "policy, auth, ca, proxy, realm and insecure need source ="},
	};

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		if (rules[i].is_wrong) {
			return msd_diag_set(d, MSD_BAD_REQUEST, "%s", rules[i].why);
		}
	}
	return msd_run_options_check(&p->run, d);
}

void msd_preload_write(const struct msd_preload *p, struct msd_buf *ret)
{
	msd_buf_printf(ret, "module %s {", p->name);
	if (p->file != NULL) {
		msd_buf_printf(ret, " file = ");
		msd_config_quote(p->file, ret);
	}
	for (unsigned i = 0; i < MSD_PRELOAD_KEYS; i++) {
		if (p->values[i] != NULL) {
			msd_buf_printf(ret, "  %s = ", msd_preload_key(i));
			msd_config_quote(p->values[i], ret);
		}
	}
	msd_buf_printf(ret, " }");
}

/* The next ",key=" in @text, or NULL: any other comma is part of a file name. */
static char *next_key(char *text)
{
	for (char *comma = strchr(text, ','); comma != NULL;
	     comma = strchr(comma + 1, ',')) {
		size_t n = strspn(comma + 1, "abcdefghijklmnopqrstuvwxyz_-");

		if (n > 0 && comma[1 + n] == '=')
			return comma;
	}
	return NULL;
}

/* @text is "KEY=VALUE". */
static msd_err read_key(struct msd_preload *p, char *text, struct msd_diag *d)
{
	char *value = strchr(text, '=');

	*value++ = '\0';
	if (msd_preload_has_key(text)) {
		if (*value == '\0') {
			return msd_diag_set(d, MSD_BAD_REQUEST, "%s= has no value",
					    text);
		}
		return msd_preload_set(p, text, value, d);
	}
	return refuse_form(text, d);
}

static msd_err read_all(struct msd_preload *p, struct msd_diag *d)
{
	char *equals = strchr(p->text, '=');
	struct msd_span name = {(const uint8_t *)p->text,
				equals != NULL ? (size_t)(equals - p->text) : 0};
	msd_err err = MSD_OK;

	if (equals == NULL || !msd_name_valid(name))
		return refuse_form(NULL, d);
	*equals = '\0';
	p->name = p->text;
	p->file = equals + 1;
	char *key = next_key(equals + 1);
	while (key != NULL && err == MSD_OK) {
		char *next = next_key(key + 1);

		*key++ = '\0';
		if (next != NULL)
			*next = '\0';
		err = read_key(p, key, d);
		key = next;
	}
	if (err == MSD_OK && *p->file == '\0')
		return refuse_form(NULL, d);
	return err == MSD_OK ? msd_preload_check(p, d) : err;
}

msd_err msd_preload_read(const char *text, struct msd_preload *ret, struct msd_diag *d)
{
	*ret = (struct msd_preload){.text = strdup(text), .origin = "command line"};
	if (ret->text == NULL)
		return msd_diag_no_memory(d);
	msd_err err = read_all(ret, d);
	return err == MSD_OK ? err : msd_diag_wrap(d, err, "--load %s", text);
}

void msd_preload_finish(struct msd_preload *p)
{
	free(p->text);
	p->text = NULL;
}

msd_err msd_preload_load(struct msd_module_registry *registry,
			 const struct msd_preload *p, bool replace, struct msd_diag *d)
{
	const char *const files[MSD_PART_COUNT] = {[MSD_PART_MODEL] = p->file,
						   [MSD_PART_GRAPH] = p->graph,
						   [MSD_PART_PARAMS] = p->params};
	struct msd_load load;
	struct msd_module *m;

	msd_preload_options(p, &load);
	load.file = p->file;
	load.replace = replace;
	load.bringing = msd_source_job_read(registry->loop, files, p->with,
					    registry->limits->max_upload);
	const msd_err err =
		load.bringing == NULL
			? msd_diag_no_memory(d)
			: msd_module_load(registry, msd_span_of(p->name), &load, &m, d);
	return err == MSD_OK ? err : msd_diag_wrap(d, err, "load %s", p->name);
}

msd_err msd_preload_start(struct msd_module_registry *registry,
			  const struct msd_preload *p, bool replace, struct msd_diag *d)
{
	msd_err err = msd_preload_load(registry, p, replace, d);

	if (err != MSD_OK)
		err = msd_module_add_failed(registry, msd_span_of(p->name), p->file, d);
	if (err != MSD_OK) {
		msd_log(MSD_LOG_ERROR, "module_load", "name=%s file=%s why=\"%s\"",
			p->name, p->file, msd_diag_text(d));
	}
	return err;
}
