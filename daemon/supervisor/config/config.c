/*
 * Parse configuration files with libconfuse. The option table and the table of module
 * keys interpret each value, in a callback that libconfuse calls.
 *
 * Happy path: comments are removed, the text is parsed, and each value is passed to
 * its row at once. Failures: the parser stops at the first error and reports file and
 * line. This file also detects errors that libconfuse accepts: it counts repeated
 * keys, and an extra key after the text proves that all sections are closed.
 */
#include "daemon/supervisor/config/config.h"

#include <confuse.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/supervisor/config/config_text.h"
#include "daemon/supervisor/config/option_rows.h"
#include "daemon/supervisor/config/preload.h"
#include "proto/base/spelling.h"
#include "proto/name.h"

#define END_KEY "end-of-file"
#define FILE_KEY "file"
#define MODULE "module"

/* The file being parsed. It is static because libconfuse passes no user pointer to
 * its callbacks. */
static struct {
	struct msd_options *o;
	const char *path;
	unsigned n_lines;
	bool has_ended;                /* the parser reached the key after the text */
	bool is_seen[MSD_MAX_OPTIONS]; /* options seen so far */
	const cfg_t *section;          /* section of the module that is being read */
	msd_err err;
	struct msd_diag *d;
} now;

static const char *origin(int line)
{
	char text[4200];

	(void)snprintf(text, sizeof(text), "%.4096s:%d", now.path, line);
	return msd_options_keep(now.o, text);
}

/* Put file and line before the message of @err. A line after the end of the file
 * belongs to the extra key. */
static int fail(int line, msd_err err)
{
	if (line > (int)now.n_lines) {
		now.err = msd_diag_set(now.d, MSD_BAD_REQUEST,
				       "%s:%u: the file ends inside a section, a "
				       "list or a value",
				       now.path, now.n_lines);
	} else {
		now.err = msd_diag_wrap(now.d, err, "%s:%d", now.path, line);
	}
	return -1;
}

/* Former names are accepted and not shown: the name of today. */
static const char *shown(const char *key)
{
	const struct msd_option *row = msd_option_row(msd_option_find(key));
	const char *name = row != NULL ? row->name : msd_preload_shown(key);

	return name != NULL ? name : key;
}

/* The key of @cfg that is closest to the KEY in libconfuse's "no such option 'KEY'". */
static struct msd_span near_key(const cfg_t *cfg, const char *text)
{
	const char *key = strstr(text, "no such option '") == text
				  ? text + strlen("no such option '")
				  : "";
	struct msd_spelling near;

	msd_spelling_start(&near,
			   (struct msd_span){(const uint8_t *)key, strcspn(key, "'")});
	for (const cfg_opt_t *o = cfg->opts; o->name != NULL; o++) {
		if (o->name[0] != '_' && strcmp(o->name, END_KEY) != 0)
			msd_spelling_look(&near, msd_span_of(o->name));
	}
	return near.best.n > 0 ? msd_span_of(shown((const char *)near.best.p))
			       : near.best;
}

static void on_error(cfg_t *cfg, const char *fmt, va_list ap)
{
	char text[512];

	if (now.err != MSD_OK)
		return;
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	const struct msd_span near = near_key(cfg, text);
	(void)fail(cfg->line,
		   msd_diag_set(now.d, MSD_BAD_REQUEST, "%s%s%.*s%s", text,
				near.n > 0 ? "; did you mean " : "", (int)near.n,
				(const char *)near.p, near.n > 0 ? "?" : ""));
}

static int refuse(const cfg_t *cfg, const char *key, const char *why)
{
	return fail(cfg->line,
		    msd_diag_set(now.d, MSD_BAD_REQUEST, "%s: %s", key, why));
}

/* Handle the value of an option. */
static int on_option(cfg_t *cfg, cfg_opt_t *opt, const char *value, void *result)
{
	const unsigned i = msd_option_find(opt->name);
	const struct msd_option *row = msd_option_row(i);
	const bool is_first = !row->is_list || cfg_opt_size(opt) == 1;

	if (now.is_seen[i] && is_first)
		return refuse(cfg, opt->name, "is given twice");
	if (!now.is_seen[i])
		now.o->origins[i] = origin(cfg->line);
	now.is_seen[i] = true;
	msd_err err = row->read(now.o, row, value, now.d);
	if (err != MSD_OK) {
		(void)msd_diag_wrap(now.d, err, "%s = %s", opt->name, value);
		return fail(cfg->line, err);
	}
	*(const char **)result = value;
	return 0;
}

/* The module of the section @cfg; NULL on failure. */
static struct msd_preload *module_of(cfg_t *cfg)
{
	const char *title = cfg_title(cfg);
	const struct msd_span name = msd_span_of(title);
	struct msd_preload *p = msd_options_preload(now.o, title);

	if (now.section == cfg)
		return p;
	if (!msd_name_valid(name)) {
		(void)refuse(cfg, MODULE, "expected a NAME of letters, digits and ._-");
		return NULL;
	}
	if (p != NULL) {
		(void)fail(cfg->line,
			   msd_diag_set(now.d, MSD_BAD_REQUEST,
					"module %s: is already defined at %s", title,
					p->origin));
		return NULL;
	}
	p = msd_options_add_preload(now.o);
	if (p != NULL) {
		p->name = msd_options_keep(now.o, title);
		p->origin = origin(cfg->line);
	}
	if (p == NULL || p->name == NULL || p->origin == NULL) {
		(void)fail(cfg->line, msd_diag_no_memory(now.d));
		return NULL;
	}
	now.section = cfg;
	return p;
}

/* Handle the value of a module key. */
static int on_module_key(cfg_t *cfg, cfg_opt_t *opt, const char *value, void *result)
{
	struct msd_preload *p = module_of(cfg);
	const char *copy = msd_options_keep(now.o, value);
	msd_err err = MSD_OK;

	if (p == NULL)
		return -1;
	if (copy == NULL)
		return fail(cfg->line, msd_diag_no_memory(now.d));
	if (*copy == '\0') {
		err = msd_diag_set(now.d, MSD_BAD_REQUEST, "%s = has no value",
				   opt->name);
	} else if (strcmp(opt->name, FILE_KEY) != 0) {
		err = msd_preload_set(p, opt->name, copy, now.d);
	} else if (p->file != NULL) {
		err = msd_diag_set(now.d, MSD_BAD_REQUEST, FILE_KEY "= is given twice");
	} else {
		p->file = copy;
	}
	if (err != MSD_OK) {
		(void)msd_diag_wrap(now.d, err, "module %s", p->name);
		return fail(cfg->line, err);
	}
	*(const char **)result = value;
	return 0;
}

/*
 * The key after the text must be at the top level; otherwise a section is still open.
 */
static int on_end(cfg_t *cfg, cfg_opt_t *opt, const char *value, void *result)
{
	if (cfg->line <= (int)now.n_lines)
		return refuse(cfg, opt->name, "no such option");
	now.has_ended = true;
	*(const char **)result = value;
	return 0;
}

/* Only libconfuse knows a section that is empty. */
static msd_err check_modules(cfg_t *cfg)
{
	for (unsigned i = 0; i < cfg_size(cfg, MODULE) && now.err == MSD_OK; i++) {
		cfg_t *section = cfg_getnsec(cfg, MODULE, i);
		const struct msd_preload *p =
			msd_options_preload(now.o, cfg_title(section));

		const struct msd_preload none = {0};
		const msd_err err = msd_preload_check(p != NULL ? p : &none, now.d);

		if (err != MSD_OK) {
			(void)msd_diag_wrap(now.d, err, "%s", cfg_title(section));
			(void)fail(section->line, err);
		}
	}
	return now.err;
}

/* libconfuse calls no callback for an empty list. */
static msd_err check_lists(cfg_t *cfg)
{
	const struct msd_option *row;

	for (unsigned i = 0; (row = msd_option_row(i)) != NULL; i++) {
		if (now.is_seen[i] && row->is_list && cfg_size(cfg, row->name) == 0) {
			now.err = msd_diag_set(now.d, MSD_BAD_REQUEST,
					       "%s: %s: is given twice", now.path,
					       row->name);
		}
	}
	return now.err;
}

static void module_keys(cfg_opt_t *ret)
{
	unsigned n = 0;

	for (unsigned i = 0; i < MSD_PRELOAD_KEYS; i++) {
		const char *former = msd_preload_former(i);

		ret[n++] = (cfg_opt_t)CFG_STR_CB(msd_preload_key(i), NULL,
						 CFGF_NODEFAULT, on_module_key);
		if (former != NULL) {
			ret[n++] = (cfg_opt_t)CFG_STR_CB(former, NULL, CFGF_NODEFAULT,
							 on_module_key);
		}
	}
	ret[n++] = (cfg_opt_t)CFG_STR_CB(FILE_KEY, NULL, CFGF_NODEFAULT, on_module_key);
	ret[n] = (cfg_opt_t)CFG_END();
}

/* Returns the number of keys. */
static unsigned option_keys(cfg_opt_t *ret)
{
	const struct msd_option *row;
	const char *former;
	unsigned n = 0;

	for (unsigned i = 0; (row = msd_option_row(i)) != NULL; i++) {
		if (row->write == NULL)
			continue;
		if (row->is_list) {
			ret[n++] = (cfg_opt_t)CFG_STR_LIST_CB(
				row->name, NULL, CFGF_NODEFAULT, on_option);
		} else {
			ret[n++] = (cfg_opt_t)CFG_STR_CB(row->name, NULL,
							 CFGF_NODEFAULT, on_option);
		}
	}
	for (unsigned i = 0; (former = msd_option_former(i)) != NULL; i++) {
		ret[n++] =
			(cfg_opt_t)CFG_STR_CB(former, NULL, CFGF_NODEFAULT, on_option);
	}
	return n;
}

static msd_err parse(char *text, bool only_modules)
{
	cfg_opt_t keys[2 * MSD_PRELOAD_KEYS + 2],
		top[MSD_MAX_OPTIONS + MSD_FORMER_OPTIONS + 3];
	unsigned n = 0;

	module_keys(keys);
	top[n++] = (cfg_opt_t)CFG_SEC(MODULE, keys,
				      CFGF_MULTI | CFGF_TITLE | CFGF_NO_TITLE_DUPES);
	top[n++] = (cfg_opt_t)CFG_STR_CB(END_KEY, NULL, CFGF_NODEFAULT, on_end);
	if (!only_modules)
		n += option_keys(top + n);
	top[n] = (cfg_opt_t)CFG_END();
	cfg_t *cfg = cfg_init(top, CFGF_NONE);
	if (cfg == NULL)
		return msd_diag_no_memory(now.d);
	(void)cfg_set_error_function(cfg, on_error);
	if ((cfg_parse_buf(cfg, text) != CFG_SUCCESS || !now.has_ended) &&
	    now.err == MSD_OK)
		(void)fail((int)now.n_lines + 1, MSD_BAD_REQUEST);
	if (now.err == MSD_OK && check_modules(cfg) == MSD_OK)
		(void)check_lists(cfg);
	(void)cfg_free(cfg);
	return now.err;
}

msd_err msd_config_parse(struct msd_options *o, const char *path, struct msd_span text,
			 bool only_modules, struct msd_diag *d)
{
	static const char end[] = "\n" END_KEY " = here\n";
	char *copy = malloc(text.n + sizeof(end));
	msd_err err;

	if (copy == NULL)
		return msd_diag_no_memory(d);
	if (text.n > 0)
		memcpy(copy, text.p, text.n);
	copy[text.n] = '\0';
	memset(&now, 0, sizeof(now));
	now.o = o;
	now.path = path;
	now.d = d;
	now.n_lines = msd_config_line(copy, copy + text.n);
	if (strlen(copy) != text.n) {
		err = msd_diag_set(d, MSD_BAD_REQUEST,
				   "%s:%u: not a text file: it contains a byte 0", path,
				   msd_config_line(copy, copy + strlen(copy)));
	} else {
		err = msd_config_strip(path, copy, d);
	}
	if (err == MSD_OK) {
		memcpy(copy + text.n, end, sizeof(end));
		err = parse(copy, only_modules);
	}
	free(copy);
	return err;
}
