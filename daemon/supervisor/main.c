/*
 * modserd: read the command line, then run the server.
 *
 * Happy path: options are read, the loop is prepared, the store is opened, listeners
 * start. Modules are loaded (from the command line, then from the store), and the
 * loop runs until it is stopped. Failures: one line on standard error and an exit
 * code.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/log.h"
#include "daemon/supervisor/config/config_check.h"
#include "daemon/supervisor/config/default_store.h"
#include "daemon/supervisor/config/options_read.h"
#include "daemon/supervisor/config/preload.h"
#include "daemon/supervisor/edge/listen/agent_check.h"
#include "daemon/supervisor/edge/listen/listener.h"
#include "daemon/supervisor/handover_workers.h"
#include "daemon/supervisor/http/http.h"
#include "daemon/supervisor/memory_trim.h"
#include "daemon/supervisor/module/life/readiness.h"
#include "daemon/supervisor/repository/key_revocation.h"
#include "daemon/supervisor/repository/restore.h"
#include "daemon/supervisor/rights/acl_file.h"
#include "daemon/supervisor/rpc/rpc.h"
#include "daemon/supervisor/server.h"
#include "daemon/supervisor/signals.h"
#include "daemon/supervisor/tls.h"
#include "proto/base/inherited.h"
#include "proto/base/installed.h"
#include "proto/method.h"

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

static void print_api(void)
{
	for (unsigned i = 0; i < MSD_M_COUNT; i++) {
		const struct msd_method_row *row = msd_method_row((enum msd_method)i);
		(void)printf("%s\t%c\t%s\t%s\t%s\n", row->name, row->where,
			     msd_right_name(row->right), row->params, row->result);
	}
}

static int print_config(const struct msd_options *o)
{
	struct msd_buf text = {0};

	msd_options_write(o, &text);
	if (!text.bad)
		(void)fwrite(text.p, 1, text.n, stdout);
	msd_buf_finish(&text);
	return text.bad ? EXIT_FAILED : EXIT_OK;
}

/* True if the service manager passed a socket with this address. */
static bool is_adopted(const struct msd_edge *e, const struct msd_address *a)
{
	char text[MSD_ADDRESS_TEXT_MAX];

	(void)msd_address_format(a, text);
	MSD_LIST_EACH (it, &e->listeners) {
		const struct msd_listening *l =
			MSD_CONTAINER_OF(it, struct msd_listening, link);
		if (strcmp(l->text, text) == 0)
			return true;
	}
	return false;
}

/* The passed socket that listens on the address of --tvm-rpc; -1: none. */
static int handed_rpc(const struct msd_options *o, const struct msd_sd *sd)
{
	for (uint32_t i = 0; o->rpc.text != NULL && i < sd->n_listen; i++) {
		if (msd_listen_socket_is_at(sd->listen[i], &o->rpc.address))
			return sd->listen[i];
	}
	return -1;
}

/* Adopt all passed sockets but @rpc_fd. */
static msd_err adopt_all(struct msd_edge *e, const struct msd_sd *sd, int rpc_fd,
			 const struct msd_listen_options *how, struct msd_diag *d)
{
	msd_err err = MSD_OK;

	for (uint32_t i = 0; i < sd->n_listen && err == MSD_OK; i++) {
		if (sd->listen[i] != rpc_fd)
			err = msd_listener_adopt(e, sd->listen[i], how, d);
	}
	return err;
}

static msd_err listen_all(struct msd_edge *e, const struct msd_options *o,
			  const struct msd_sd *sd, struct msd_diag *d)
{
	const struct msd_listen_options how = {.insecure_tcp = o->insecure_tcp,
					       .asks_names = o->tls_ca != NULL ||
							     e->rights.acl != NULL,
					       .socket_mode = o->socket_mode,
					       .wanted = o->listen,
					       .n_wanted = o->n_listen};
	const int rpc_fd = handed_rpc(o, sd);
	msd_err err = adopt_all(e, sd, rpc_fd, &how, d);

	for (uint32_t i = 0; i < o->n_listen && err == MSD_OK; i++) {
		if (!is_adopted(e, &o->listen[i]))
			err = msd_listener_open(e, &o->listen[i], &how, d);
	}
	if (err == MSD_OK && o->has_http)
		err = msd_http_open(e, &o->http, &how, d);
	if (err == MSD_OK && o->rpc.text != NULL) {
		err = msd_rpc_open(
			e, &o->rpc,
			msd_installed_find("MODSERD_RPC", "modserd-rpc", X_OK), rpc_fd,
			&how, d);
	}
	for (uint32_t i = 0; i < o->n_agents && err == MSD_OK; i++) {
		const struct msd_agent *a = &o->agents[i];
		err = msd_agent_check_open(e, &a->address, a->module, &how, d);
	}
	if (err != MSD_OK)
		return err;
	MSD_LIST_EACH (it, &e->listeners) {
		(void)printf("listening %s\n",
			     MSD_CONTAINER_OF(it, struct msd_listening, link)->text);
	}
	for (uint32_t i = 0; o->has_model && o->has_http && i < o->n_preloads; i++) {
		char text[MSD_ADDRESS_TEXT_MAX];

		(void)msd_address_format(&o->http, text);
		(void)printf("curl http://%s/v2/models/%s\n",
			     strncmp(text, "tcp://", 6) == 0 ? text + 6 : text,
			     o->preloads[i].name);
	}
	(void)fflush(stdout);
	return MSD_OK;
}

/* If several modules have the same name, the last one applies. */
static bool is_overridden(const struct msd_options *o, uint32_t i)
{
	for (uint32_t later = i + 1; later < o->n_preloads; later++) {
		if (strcmp(o->preloads[i].name, o->preloads[later].name) == 0)
			return true;
	}
	return false;
}

static void preload_all(struct msd_module_registry *registry,
			const struct msd_options *o)
{
	for (uint32_t i = 0; i < o->n_preloads; i++) {
		const struct msd_preload *p = &o->preloads[i];
		struct msd_diag d = {0};

		if (p->source != NULL)
			continue; /* supply_all() handles it */
		if (is_overridden(o, i)) {
			msd_log(MSD_LOG_WARN, "module_load",
				"name=%s file=%s origin=\"%s\" why=\"a later module "
				"has the same name\"",
				p->name, p->file, p->origin);
		} else {
			(void)!msd_preload_start(registry, p, false, &d);
		}
		msd_diag_finish(&d);
	}
}

/* Modules from the store are already loaded here. */
static void supply_all(struct msd_source_pollers *source_pollers,
		       const struct msd_options *o)
{
	for (uint32_t i = 0; i < o->n_preloads; i++) {
		if (o->preloads[i].source != NULL && !is_overridden(o, i)) {
			msd_source_pollers_start(source_pollers, &o->preloads[i],
						 false);
		}
	}
}

/*
 * Find the daemon's programs and libraries; the daemon cannot run without the worker.
 */
static msd_err find_parts(struct msd_server *s, struct msd_diag *d)
{
	s->worker_path = msd_installed_find("MODSERD_WORKER", "modserd-worker", X_OK);
	s->fetcher.path = msd_installed_find("MODSERD_FETCH", "modserd-fetch", X_OK);
	s->tls.path = msd_installed_find("MODSERD_TLS", "modserd-tls.so", R_OK);
	if (s->worker_path != NULL)
		return MSD_OK;
	return msd_diag_set(d, MSD_NOT_FOUND,
			    "modserd-worker is neither in the folder of modserd nor in "
			    "../libexec/modserd: set MODSERD_WORKER");
}

/* A missing file for pulls does not stop the daemon. */
static void warn_of_terms(const struct msd_options *o)
{
	struct msd_diag d = {0};

	if (msd_config_check_terms(o, &d) != MSD_OK) {
		msd_log(MSD_LOG_WARN, "config_warning", "why=\"%s\"",
			msd_diag_text(&d));
	}
	msd_diag_finish(&d);
}

/* The user's default folder may be in use by another daemon, or may not be usable:
 * then the daemon runs without a store. */
static msd_err open_store(struct msd_server *s, const struct msd_options *o,
			  struct msd_diag *d)
{
	if (!msd_store_is_named(o->store))
		return MSD_OK;
	if (o->may_lack_store)
		msd_default_store_make_room(o->store);
	const msd_err err =
		msd_keeper_open(&s->keeper, &s->loop, o->store, s->limits.max_store, d);
	if (err == MSD_OK) {
		msd_trust_check_open(&s->fetcher.vouch);
		return MSD_OK;
	}
	if (!o->may_lack_store)
		return err;
	msd_log(MSD_LOG_WARN, "store_failed",
		"why=\"%s\" result=\"the daemon runs without a store: choose another "
		"with --store DIR, or give --store none\"",
		msd_diag_text(d));
	msd_diag_finish(d);
	return MSD_OK;
}

static int check_config(const struct msd_options *o, const struct msd_acl *acl,
			struct msd_diag *d)
{
	char *tls = msd_installed_find("MODSERD_TLS", "modserd-tls.so", R_OK);
	char *fetch = msd_installed_find("MODSERD_FETCH", "modserd-fetch", X_OK);
	const struct msd_config_parts parts = {.tls = tls, .fetch = fetch};
	const msd_err err = msd_config_check(o, acl, &parts, d);

	free(tls);
	free(fetch);
	if (err != MSD_OK) {
		(void)fprintf(stderr, "modserd: %s\n", msd_diag_text(d));
		return EXIT_USAGE;
	}
	(void)printf("%s: no errors\n", o->config);
	return EXIT_OK;
}

/* @acl: the rights file, which is taken; NULL if there is no file. */
static int serve(const struct msd_options *o, struct msd_acl *acl,
		 const struct msd_sd *sd, const struct msd_reload *reload)
{
	struct msd_server s = {.sd = *sd,
			       .reload = *reload,
			       .limits = o->limits,
			       .n_files = o->n_preloads + (o->rpc.tracker.port != 0),
			       .threads = o->threads,
			       .plugins = o->plugins.paths,
			       .sandbox = {.word = o->sandbox,
					   .reads = o->may_read.paths,
					   .writes = o->may_write.paths},
			       .worker_user_name = o->worker_user,
			       .keeps_workers = o->keep_workers,
			       .fetcher.vouch.trust = o->trust.trust,
			       .fetcher.terms = o->terms,
			       .edge.proxies = &o->proxies.networks,
			       .edge.load_tcp = o->allow_load_tcp};
	struct msd_diag d = {0};
	int code = EXIT_FAILED;

	if (acl != NULL)
		msd_rights_set(&s.edge.rights, acl);
	warn_of_terms(o);
	msd_err err = find_parts(&s, &d);
	if (err == MSD_OK)
		err = msd_server_init(&s, &d);
	if (err != MSD_OK) {
		(void)fprintf(stderr, "modserd: %s\n", msd_diag_text(&d));
		msd_rights_finish(&s.edge.rights);
		free(s.worker_path);
		free(s.fetcher.path);
		free(s.tls.path);
		msd_diag_finish(&d);
		return EXIT_FAILED;
	}
	err = open_store(&s, o, &d);
	if (err == MSD_OK)
		err = msd_tls_reload(&s.tls, o, acl, NULL, &d);
	if (err == MSD_OK)
		err = listen_all(&s.edge, o, sd, &d);
	if (err == MSD_OK) {
		msd_handover_workers_open(&s.registry, &s.sd, s.keeps_workers);
		preload_all(&s.registry, o);
		if (s.keeper.is_open)
			msd_restore(&s.keeper, &s.registry, o);
		supply_all(&s.source_pollers, o);
		msd_key_revocation_look(&s.keeper, &s.source_pollers, &o->trust.trust);
		err = msd_readiness_record(&s.registry, &d);
	}
	if (err == MSD_OK) {
		msd_server_tell_ready(&s);
		code = msd_server_run(&s);
	} else {
		(void)fprintf(stderr, "modserd: %s\n", msd_diag_text(&d));
		msd_listeners_close(&s.edge, false);
	}
	if (!msd_server_finish(&s)) { /* a file system hangs: do not wait for it */
		msd_log_finish();
		_exit(code);
	}
	msd_diag_finish(&d);
	return code;
}

/* The file is needed to serve and to check the configuration. */
static msd_err read_rights(const struct msd_options *o, struct msd_acl **ret,
			   struct msd_diag *d)
{
	if (o->acl == NULL ||
	    (o->action != MSD_RUN_SERVE && o->action != MSD_RUN_CHECK_CONFIG))
		return MSD_OK;
	return msd_acl_read(o->acl, ret, d);
}

int main(int argc, char **argv)
{
	struct msd_options o = {0};
	struct msd_acl *acl = NULL;
	struct msd_sd sd;
	struct msd_diag d = {0};
	int code = EXIT_OK;

	if (!msd_inherited_open_standard())
		return EXIT_FAILED; /* stderr may be unusable */
	msd_inherited_reset();
	msd_signals_hold();
	msd_sd_init(&sd);
	msd_memory_trim_prepare();
	if (msd_log_init(&d) != MSD_OK ||
	    msd_options_read(&o, argc, argv, &d) != MSD_OK ||
	    msd_options_check_listen(&o, sd.n_listen, &d) != MSD_OK ||
	    (o.action == MSD_RUN_SERVE && msd_config_check_plugins(&o, &d) != MSD_OK) ||
	    read_rights(&o, &acl, &d) != MSD_OK) {
		(void)fprintf(stderr, "modserd: %s\n", msd_diag_text(&d));
		code = EXIT_USAGE;
	} else if (o.action == MSD_RUN_HELP || o.action == MSD_RUN_HELP_ALL) {
		msd_options_print_help(o.action == MSD_RUN_HELP_ALL);
	} else if (o.action == MSD_RUN_VERSION) {
		(void)puts("modserd " MSD_VERSION);
	} else if (o.action == MSD_RUN_API) {
		print_api();
	} else if (o.action == MSD_RUN_PRINT_CONFIG) {
		code = print_config(&o);
	} else if (o.action == MSD_RUN_CHECK_CONFIG) {
		code = check_config(&o, acl, &d);
		msd_acl_destroy(acl);
	} else {
		const struct msd_reload reload = {
			.argc = argc, .argv = argv, .started = &o};
		code = serve(&o, acl, &sd, &reload);
	}
	msd_options_finish(&o);
	msd_diag_finish(&d);
	msd_log_finish();
	return code;
}
