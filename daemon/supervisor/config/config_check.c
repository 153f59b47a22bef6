/*
 * Happy path: each part of the options is checked by the code that opens it, without
 * side effects. Failures: the first error is returned. Access rights of another user
 * (a store that this user may not enter) are unknown here and are not an error.
 */
#include "daemon/supervisor/config/config_check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "artifact/elf/plugin.h"
#include "daemon/child/user.h"
#include "daemon/supervisor/config/config_file.h"
#include "daemon/supervisor/config/default_store.h"
#include "daemon/supervisor/config/option_rows.h"
#include "daemon/supervisor/config/preload.h"
#include "daemon/supervisor/edge/listen/listen_socket.h"
#include "daemon/supervisor/tls.h"
#include "graph/modserd_plugin.h"
#include "store/store.h"

/* Put the origin of the option before the message of @err. */
static msd_err at(const struct msd_options *o, const char *option, msd_err err,
		  struct msd_diag *d)
{
	const char *origin = o->origins[msd_option_find(option)];

	return err == MSD_OK
		       ? MSD_OK
		       : msd_diag_wrap(d, err, "%s: %s",
				       origin != NULL ? origin : "default", option);
}

static msd_err check_addresses(const struct msd_options *o, const struct msd_acl *acl,
			       struct msd_diag *d)
{
	const struct msd_listen_options how = {.insecure_tcp = o->insecure_tcp,
					       .asks_names = o->tls_ca != NULL ||
							     acl != NULL};
	msd_err err = MSD_OK;

	for (uint32_t i = 0; err == MSD_OK && i < o->n_listen; i++) {
		err = at(o, "listen", msd_listen_socket_check(&o->listen[i], &how, d),
			 d);
	}
	if (err == MSD_OK && o->has_http)
		err = at(o, "http", msd_listen_socket_check(&o->http, &how, d), d);
	if (err == MSD_OK && o->rpc.text != NULL) {
		struct msd_rpc_settings rpc = o->rpc;
		err = msd_listen_socket_check(&rpc.address, &how, d);
		if (err == MSD_OK)
			err = msd_rpc_settings_read_key(&rpc, d);
		err = at(o, "tvm-rpc", err, d);
	}
	for (uint32_t i = 0; err == MSD_OK && i < o->n_agents; i++) {
		err = at(o, "agent-check",
			 msd_listen_socket_check(&o->agents[i].address, &how, d), d);
	}
	return err;
}

static msd_err check_user(const struct msd_options *o, struct msd_diag *d)
{
	struct msd_child_user user;

	if (o->worker_user == NULL)
		return MSD_OK;
	return at(o, "worker-user", msd_child_user_find(o->worker_user, &user, d), d);
}

static msd_err check_store(const struct msd_options *o, struct msd_diag *d)
{
	if (!msd_store_is_named(o->store) || o->may_lack_store)
		return MSD_OK;
	return at(o, "store", msd_store_check(o->store, d), d);
}

static msd_err check_tls(const struct msd_options *o, const struct msd_acl *acl,
			 const char *tls_path, struct msd_diag *d)
{
	struct msd_tls tls = {.path = tls_path != NULL ? strdup(tls_path) : NULL};
	const msd_err err = msd_tls_reload(&tls, o, acl, NULL, d);

	msd_tls_finish(&tls);
	return at(o, "listen", err, d);
}

static msd_err check_file(const char *key, const char *path, const char *origin,
			  struct msd_diag *d)
{
	if (path == NULL || access(path, R_OK) == 0)
		return MSD_OK;
	return msd_diag_set(d, MSD_BAD_REQUEST, "%s: %s = %s: %s", origin, key, path,
			    strerror(errno));
}

msd_err msd_config_check_terms(const struct msd_options *o, struct msd_diag *d)
{
	msd_err err = check_file("auth", o->terms.auth,
				 o->origins[msd_option_find("auth")], d);

	if (err == MSD_OK) {
		err = check_file("ca", o->terms.ca, o->origins[msd_option_find("ca")],
				 d);
	}
	for (uint32_t i = 0; err == MSD_OK && i < o->n_preloads; i++) {
		const struct msd_preload *p = &o->preloads[i];

		err = check_file("auth", p->terms.auth, p->origin, d);
		if (err == MSD_OK)
			err = check_file("ca", p->terms.ca, p->origin, d);
	}
	return err;
}

msd_err msd_config_check_plugins(const struct msd_options *o, struct msd_diag *d)
{
	const char *const *paths = o->plugins.paths;
	msd_err err = MSD_OK;

	for (size_t i = 0; err == MSD_OK && paths != NULL && paths[i] != NULL; i++) {
		struct msd_plugin_list brings = {0};
		uint32_t abi = 0;

		err = msd_elf_plugin_read(paths[i], &abi, &brings, d);
		msd_plugin_list_finish(&brings);
		if (err == MSD_OK && abi != MODSERD_PLUGIN_ABI) {
			err = msd_diag_set(d, MSD_UNSUPPORTED,
					   "plugin %s: it was built for version %u of "
					   "the plugin interface, this is version %u: "
					   "build it with this version's headers",
					   paths[i], (unsigned)abi, MODSERD_PLUGIN_ABI);
		}
	}
	return err;
}

static msd_err check_workers(const struct msd_options *o, struct msd_diag *d)
{
	for (uint32_t i = 0; i < o->n_preloads; i++) {
		const struct msd_preload *p = &o->preloads[i];

		if (p->run.workers > o->limits.max_workers) {
			return msd_diag_set(d, MSD_TOO_LARGE,
					    "%s: workers = %u is over the limit of "
					    "%llu (max-workers)",
					    p->origin, p->run.workers,
					    (unsigned long long)o->limits.max_workers);
		}
	}
	return MSD_OK;
}

msd_err msd_config_check(const struct msd_options *o, const struct msd_acl *acl,
			 const struct msd_config_parts *parts, struct msd_diag *d)
{
	msd_err err = check_addresses(o, acl, d);

	if (err == MSD_OK)
		err = check_user(o, d);
	if (err == MSD_OK)
		err = check_store(o, d);
	if (err == MSD_OK)
		err = check_tls(o, acl, parts->tls, d);
	if (err == MSD_OK)
		err = msd_config_check_plugins(o, d);
	if (err == MSD_OK)
		err = check_workers(o, d);
	if (err == MSD_OK)
		err = msd_config_check_terms(o, d);
	return err == MSD_OK ? msd_config_check_sources(o, parts->fetch, d) : err;
}
