/*
 * Happy path: the command line and its file are read into new options and compared
 * with the options in force. Limits are applied, modules are loaded, replaced and
 * unloaded, and the differences are reported. Failures: if the options cannot be
 * read, nothing changes. A module that cannot be loaded is FAILED, with the cause, as
 * at the start; if it replaces a module, the old one continues to serve.
 */
#include "daemon/supervisor/config/reload.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/log.h"
#include "daemon/supervisor/config/changes.h"
#include "daemon/supervisor/config/option_rows.h"
#include "daemon/supervisor/config/options_read.h"
#include "daemon/supervisor/config/preload.h"
#include "daemon/supervisor/descriptors.h"
#include "daemon/supervisor/edge/access/recheck.h"
#include "daemon/supervisor/machine.h"
#include "daemon/supervisor/module/direct/direct.h"
#include "daemon/supervisor/module/life/catalog.h"
#include "daemon/supervisor/module/queue/admit.h"
#include "daemon/supervisor/repository/key_revocation.h"
#include "daemon/supervisor/repository/rollback.h"
#include "daemon/supervisor/rights/acl_file.h"
#include "daemon/supervisor/server.h"
#include "daemon/supervisor/tls.h"
#include "proto/value.h"

/* It starts after all changes are applied, or when its module is ready for another
 * load. */
static void take_module(struct msd_server *s, const struct msd_change *c)
{
	const char *name = msd_change_name(c);
	struct msd_diag d = {0};

	if (c->old != NULL && c->old->source != NULL &&
	    (c->module == NULL || c->module->source == NULL))
		msd_source_pollers_stop(&s->source_pollers, name);
	if (msd_wanted_change(&s->wanted, name, &d) != MSD_OK) {
		msd_log(MSD_LOG_ERROR, "config_reload", "name=%s why=\"%s\"", name,
			msd_diag_text(&d));
	}
	msd_diag_finish(&d);
}

/* A value of 0 gets its fair share of the machine, as at the start. */
static void take_limit(struct msd_server *s, const struct msd_options *next,
		       const struct msd_option *row)
{
	struct msd_limits sized = next->limits;

	msd_limits_size(&sized, msd_machine_memory("", uv_get_total_memory()),
			uv_available_parallelism());
	*msd_option_limit(&s->limits, row) = *msd_option_limit(&sized, row);
	msd_direct_end_all(&s->registry); /* their workers have the old limits */
	s->wire.last_fd = msd_descriptors_raise(&s->limits);
}

static void take(struct msd_server *s, const struct msd_options *next,
		 const struct msd_change *c)
{
	const char *name = msd_change_name(c);

	msd_log(MSD_LOG_INFO, "config_reload", "key=%s%s%s was=\"%s\" is=\"%s\"%s",
		msd_change_key(c), name != NULL ? " name=" : "",
		name != NULL ? name : "", c->was, c->is,
		c->waits ? " why=\"waits for a restart\"" : "");
	if (c->waits)
		return;
	if (c->row == NULL) {
		take_module(s, c);
	} else if (c->row->limit != NULL) {
		take_limit(s, next, c->row);
	} else { /* the TLS options were applied before, all together */
		s->threads = s->registry.threads = next->threads;
	}
}

struct told {
	const char *key, *name; /* NULL: no name */
	const char *was, *is;
	const char *state;
};

static void put(struct msd_buf *b, const char *key, const char *value)
{
	msd_pack_cstr(b, key);
	msd_pack_cstr(b, value);
}

static bool is_same(const uint8_t *a, const uint8_t *b)
{
	return memcmp(a, b, MSD_TLS_DIGEST_BYTES) == 0;
}

/* A file that is no longer configured has changed, too. */
static const char *name_or_none(const char *file)
{
	return file != NULL ? file : "";
}

static void put_row(struct msd_buf *b, const struct told *t)
{
	msd_pack_map(b, 5);
	put(b, "key", t->key);
	put(b, "name", t->name != NULL ? t->name : "");
	put(b, "state", t->state);
	put(b, "was", t->was);
	put(b, "is", t->is);
}

static const char *state_of(const struct msd_wanted *w, const struct msd_change *c)
{
	if (c->waits)
		return "waits for a restart";
	if (c->row == NULL && msd_wanted_waits(w, msd_change_name(c)))
		return "waits";
	return c->is_again ? "again" : "changed";
}

/*
 * Also report files whose content changed under the same name: the rights file, with
 * the path of the file, and the TLS files. Omit entries without a name: they did not
 * change.
 */
static void tell(const struct msd_changes *all, const struct msd_wanted *w,
		 const struct told *files, size_t n_files, struct msd_buf *b)
{
	uint32_t n = 0;

	for (size_t i = 0; i < n_files; i++)
		n += files[i].name != NULL;
	msd_pack_array(b, all->n + n);
	for (uint32_t i = 0; i < all->n; i++) {
		const struct msd_change *c = &all->each[i];
		const struct told row = {msd_change_key(c), msd_change_name(c), c->was,
					 c->is, state_of(w, c)};

		put_row(b, &row);
	}
	for (size_t i = 0; i < n_files; i++) {
		if (files[i].name != NULL)
			put_row(b, &files[i]);
	}
}

static void tell_all(const struct msd_changes *all, const struct msd_wanted *w,
		     const char *rights, const struct msd_tls_state *was,
		     const struct msd_tls_state *is, const struct msd_options *next,
		     struct msd_buf *b)
{
	const bool has_tls = was->shown.until[0] != '\0';
	const struct told files[] = {
		{.key = "acl", .name = rights, .was = "", .is = "", .state = "changed"},
		{.key = "certificate",
		 .name = has_tls && !is_same(was->shown.sha256, is->shown.sha256)
				 ? next->tls_cert
				 : NULL,
		 .was = was->shown.until,
		 .is = is->shown.until,
		 .state = "changed"},
		{.key = "authorities",
		 .name = has_tls && !is_same(was->trust.ca, is->trust.ca)
				 ? name_or_none(next->tls_ca)
				 : NULL,
		 .was = was->trust.authorities,
		 .is = is->trust.authorities,
		 .state = "changed"},
		{.key = "revoked",
		 .name = has_tls && !is_same(was->trust.crl, is->trust.crl)
				 ? name_or_none(next->tls_crl)
				 : NULL,
		 .was = was->trust.crl_until,
		 .is = is->trust.crl_until,
		 .state = "changed"}};

	tell(all, w, files, sizeof(files) / sizeof(files[0]), b);
}

/* Open TLS connections were accepted with the old authorities: check them again. */
static void judge(struct msd_server *s, const struct msd_tls_state *was,
		  const struct msd_tls_state *is)
{
	if (was->shown.until[0] == '\0' || (is_same(was->trust.ca, is->trust.ca) &&
					    is_same(was->trust.crl, is->trust.crl)))
		return;
	msd_log(MSD_LOG_INFO, "tls_authorities", "was=\"%s\" is=\"%s\" ended=%u",
		was->trust.authorities, is->trust.authorities,
		msd_tls_recheck_connections(&s->edge, &s->tls));
}

/* Read the rights file again; NULL if there is no file or it did not change. */
static msd_err read_rights(const struct msd_server *s, struct msd_acl **ret,
			   struct msd_diag *d)
{
	const char *path = s->reload.started->acl; /* a new path needs a restart */
	struct msd_acl *acl;

	*ret = NULL;
	if (path == NULL)
		return MSD_OK;
	msd_err err = msd_acl_read(path, &acl, d);
	if (err != MSD_OK)
		return err;
	if (msd_acl_is_same(acl, s->edge.rights.acl)) {
		msd_acl_destroy(acl);
	} else {
		*ret = acl;
	}
	return MSD_OK;
}

/* A missing setting is probably a mistake: the default file while it is being
 * replaced, or the line that names the rights file. */
static msd_err check_kept(const struct msd_options *started,
			  const struct msd_options *next, struct msd_diag *d)
{
	const char *origin = started->origins[msd_option_find("acl")];

	if (started->config != NULL && next->config == NULL) {
		return msd_diag_set(d, MSD_IO,
				    "%s: the file is missing: put it back, or restart "
				    "the daemon to serve without it",
				    started->config);
	}
	if (started->acl == NULL || next->acl != NULL)
		return MSD_OK;
	return msd_diag_set(d, MSD_BAD_REQUEST,
			    "%s: the line acl = is missing, but the daemon was started "
			    "with acl = %s (%s). Put the line back, or restart the "
			    "daemon to serve without rights",
			    next->config != NULL ? next->config : "the configuration",
			    started->acl, origin != NULL ? origin : "command line");
}

/* The state of a reload: the options that were read, and the differences found. */
struct again {
	const struct msd_options *now;
	struct msd_options *next;
	struct msd_acl *rights; /* NULL: unchanged */
	struct msd_changes changes;
	struct msd_tls_state was;
};

static bool is_undone(const void *ctx, const char *name)
{
	const struct msd_wanted *w = ctx;

	return msd_wanted_waits(w, name) || msd_wanted_has_failed(w, name);
}

static msd_err find(struct msd_server *s, struct again *a, struct msd_diag *d)
{
	const struct msd_reload *r = &s->reload;
	msd_err err = msd_options_read_again(a->next, r->argc, r->argv, d);

	if (err == MSD_OK)
		err = check_kept(r->started, a->next, d);
	if (err == MSD_OK)
		err = read_rights(s, &a->rights, d);
	if (err == MSD_OK)
		err = msd_changes_find(r->started, a->now, a->next, &a->changes, d);
	if (err == MSD_OK) {
		err = msd_changes_find_undone(a->now, a->next, is_undone, &s->wanted,
					      &a->changes, d);
	}
	if (err == MSD_OK) { /* the content of the files may have changed */
		err = msd_tls_reload(&s->tls, a->next,
				     a->rights != NULL ? a->rights : s->edge.rights.acl,
				     &a->was, d);
	}
	return err;
}

static void take_rights(struct msd_server *s, struct msd_acl *rights)
{
	msd_rights_set(&s->edge.rights, rights);
	msd_direct_end_all(&s->registry);
	msd_log(MSD_LOG_INFO, "config_reload", "key=acl file=\"%s\"", rights->file);
}

static void take_all(struct msd_server *s, struct again *a, struct msd_buf *ret)
{
	const struct msd_tls_state is = msd_tls_state(&s->tls);
	const char *rights = a->rights != NULL ? a->rights->file : NULL;

	if (a->rights != NULL)
		take_rights(s, a->rights);
	a->rights = NULL;
	judge(s, &a->was, &is);
	for (uint32_t i = 0; i < a->changes.n; i++)
		take(s, a->next, &a->changes.each[i]);
	s->fetcher.vouch.trust = a->next->trust.trust; /* its files may have changed */
	s->fetcher.terms = a->next->terms;
	s->wanted.options = a->next;
	msd_wanted_look(&s->wanted);
	msd_key_revocation_look(&s->keeper, &s->source_pollers, &a->next->trust.trust);
	tell_all(&a->changes, &s->wanted, rights, &a->was, &is, a->next, ret);
	msd_log(MSD_LOG_INFO, "config_reload", "changes=%u", a->changes.n);
}

static msd_err read_again(struct msd_server *s, struct msd_options *next,
			  struct msd_buf *ret, struct msd_diag *d)
{
	const struct msd_reload *r = &s->reload;
	struct again a = {.now = r->now != NULL ? r->now : r->started, .next = next};
	const msd_err err = find(s, &a, d);

	if (err == MSD_OK)
		take_all(s, &a, ret);
	msd_acl_destroy(a.rights);
	msd_changes_finish(&a.changes);
	return err;
}

msd_err msd_reload(struct msd_server *s, struct msd_buf *ret, struct msd_diag *d)
{
	struct msd_options *next;

	if (s->is_draining)
		return msd_diag_set(d, MSD_DRAINING, "the daemon is shutting down");
	if (s->reload.argc == 0) {
		return msd_diag_set(
			d, MSD_REFUSED,
			"the daemon has no configuration file to read again");
	}
	next = calloc(1, sizeof(*next));
	if (next == NULL)
		return msd_diag_no_memory(d);
	msd_err err = read_again(s, next, ret, d);
	if (err == MSD_OK) {
		msd_reload_finish(&s->reload);
		s->reload.now = next;
	} else {
		msd_log(MSD_LOG_ERROR, "config_reload",
			"why=\"%s\" result=\"configuration unchanged\"",
			d != NULL ? msd_diag_text(d) : "");
		msd_options_finish(next);
		free(next);
	}
	return err;
}

static msd_err load_file(struct msd_server *s, const struct msd_preload *p,
			 const struct msd_preload *more, bool replace,
			 struct msd_diag *d)
{
	struct msd_preload both;
	const msd_err err = msd_preload_merge(p, more, &both, d);

	return err == MSD_OK ? msd_preload_load(&s->registry, &both, replace, d) : err;
}

static msd_err load_section(struct msd_server *s, const struct msd_preload *p,
			    const struct msd_preload *more, struct msd_req *r,
			    struct msd_diag *d)
{
	const struct msd_span name = msd_span_of(p->name);
	struct msd_module *m;
	const bool is_there =
		msd_module_require(&s->registry, name, &m, NULL) == MSD_OK;
	msd_err err = MSD_OK;

	if (p->source != NULL && msd_preload_has_keys(more)) {
		err = msd_diag_set(d, MSD_BAD_REQUEST,
				   "%s: its section has a source, which the daemon "
				   "polls: change the section instead",
				   p->name);
	} else if (p->source != NULL) {
		msd_source_pollers_start(&s->source_pollers, p, true);
	} else {
		err = load_file(s, p, more, is_there, d);
	}
	if (err == MSD_OK)
		err = msd_module_require(&s->registry, name, &m, d);
	if (err != MSD_OK)
		return err;
	m = m->successor != NULL ? m->successor : m;
	msd_module_adopt(m, r);
	msd_module_wait(m, r);
	return MSD_OK;
}

msd_err msd_reload_module(struct msd_server *s, const char *name,
			  struct msd_preload *more, struct msd_req *r,
			  struct msd_diag *d)
{
	const struct msd_options *now =
		s->reload.now != NULL ? s->reload.now : s->reload.started;
	const struct msd_preload *p =
		now != NULL ? msd_options_preload(now, name) : NULL;

	if (s->is_draining)
		return msd_diag_set(d, MSD_DRAINING, "the daemon is shutting down");
	if (p != NULL)
		return load_section(s, p, more, r, d);
	if (!s->keeper.is_open) {
		return msd_diag_set(
			d, MSD_NOT_FOUND,
			"%s: neither --load nor a section of the configuration has "
			"this name; use `modser load` for other modules",
			name);
	}
	msd_edition_said(&s->repository, name, more, r);
	return MSD_OK;
}

void msd_reload_finish(struct msd_reload *r)
{
	if (r->now != NULL)
		msd_options_finish(r->now);
	free(r->now);
	r->now = NULL;
}
