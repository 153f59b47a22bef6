/* The table of options; option_values.h declares the functions that read and write
 * their values. */
#include "daemon/supervisor/config/option_rows.h"

#include <getopt.h>
#include <string.h>

#include "daemon/stream/socket_pair.h"
#include "daemon/supervisor/config/option_values.h"
#include "proto/base/spelling.h"

#define OF(field) offsetof(struct msd_options, field)
static const struct msd_option rows[] = {
	{.name = "listen",
	 .when = MSD_OPTION_RESTART,
	 .argument = optional_argument,
	 .offset = OF(n_listen),
	 .read = msd_option_read_listen,
	 .write = msd_option_write_listen,
	 .is_list = true},
	{.name = "http",
	 .when = MSD_OPTION_RESTART,
	 .argument = required_argument,
	 .read = msd_option_read_http,
	 .write = msd_option_write_http},
	{.name = "tvm-rpc",
	 .when = MSD_OPTION_RESTART,
	 .argument = required_argument,
	 .offset = OF(rpc.text),
	 .read = msd_option_read_rpc,
	 .write = msd_option_write_path},
	{.name = "agent-check",
	 .when = MSD_OPTION_RESTART,
	 .argument = required_argument,
	 .offset = OF(n_agents),
	 .read = msd_option_read_agents,
	 .write = msd_option_write_agents,
	 .is_list = true},
	{.name = "load", /* in a file it is a section */
	 .when = MSD_OPTION_RELOAD,
	 .argument = required_argument,
	 .read = msd_option_read_load},
	{.name = "socket-mode",
	 .when = MSD_OPTION_RESTART,
	 .argument = required_argument,
	 .read = msd_option_read_mode,
	 .write = msd_option_write_mode},
	{.name = "threads",
	 .when = MSD_OPTION_RELOAD,
	 .argument = required_argument,
	 .read = msd_option_read_threads,
	 .write = msd_option_write_threads},
	{.name = "insecure-tcp",
	 .when = MSD_OPTION_RESTART,
	 .offset = OF(insecure_tcp),
	 .read = msd_option_read_flag,
	 .write = msd_option_write_flag},
	{.name = "allow-load-tcp",
	 .when = MSD_OPTION_RESTART,
	 .offset = OF(allow_load_tcp),
	 .read = msd_option_read_flag,
	 .write = msd_option_write_flag},
	{.name = "tls-cert",
	 .when = MSD_OPTION_RELOAD,
	 .argument = required_argument,
	 .offset = OF(tls_cert),
	 .read = msd_option_read_path,
	 .write = msd_option_write_path},
	{.name = "tls-key",
	 .when = MSD_OPTION_RELOAD,
	 .argument = required_argument,
	 .offset = OF(tls_key),
	 .read = msd_option_read_path,
	 .write = msd_option_write_path},
	{.name = "tls-ca",
	 .when = MSD_OPTION_RELOAD,
	 .argument = required_argument,
	 .offset = OF(tls_ca),
	 .read = msd_option_read_path,
	 .write = msd_option_write_path},
	{.name = "tls-crl",
	 .when = MSD_OPTION_RELOAD,
	 .argument = required_argument,
	 .offset = OF(tls_crl),
	 .read = msd_option_read_path,
	 .write = msd_option_write_path},
	{.name = "proxy-from",
	 .when = MSD_OPTION_RESTART,
	 .argument = required_argument,
	 .offset = OF(proxies.networks.n),
	 .read = msd_option_read_proxies,
	 .write = msd_option_write_proxies,
	 .is_list = true},
	{.name = "store",
	 .when = MSD_OPTION_RESTART,
	 .argument = required_argument,
	 .offset = OF(store),
	 .read = msd_option_read_path,
	 .write = msd_option_write_path},
	{.name = "acl",
	 .when = MSD_OPTION_RESTART,
	 .argument = required_argument,
	 .offset = OF(acl),
	 .read = msd_option_read_path,
	 .write = msd_option_write_path},
	{.name = "plugin",
	 .when = MSD_OPTION_RESTART,
	 .argument = required_argument,
	 .offset = OF(plugins),
	 .read = msd_option_read_paths,
	 .write = msd_option_write_paths,
	 .is_list = true},
	{.name = "sandbox",
	 .when = MSD_OPTION_RESTART,
	 .argument = required_argument,
	 .read = msd_option_read_sandbox,
	 .write = msd_option_write_sandbox},
	{.name = "may-read",
	 .when = MSD_OPTION_RESTART,
	 .argument = required_argument,
	 .offset = OF(may_read),
	 .read = msd_option_read_paths,
	 .write = msd_option_write_paths,
	 .is_list = true},
	{.name = "may-write",
	 .when = MSD_OPTION_RESTART,
	 .argument = required_argument,
	 .offset = OF(may_write),
	 .read = msd_option_read_paths,
	 .write = msd_option_write_paths,
	 .is_list = true},
	{.name = "worker-user",
	 .when = MSD_OPTION_RESTART,
	 .argument = required_argument,
	 .offset = OF(worker_user),
	 .read = msd_option_read_path,
	 .write = msd_option_write_path},
	{.name = "keep-workers",
	 .when = MSD_OPTION_RESTART,
	 .offset = OF(keep_workers),
	 .read = msd_option_read_flag,
	 .write = msd_option_write_flag},
	{.name = "trust",
	 .when = MSD_OPTION_RELOAD,
	 .argument = required_argument,
	 .offset = OF(trust.n),
	 .read = msd_option_read_trust,
	 .write = msd_option_write_trust,
	 .is_list = true},
	{.name = "trust-least",
	 .when = MSD_OPTION_RELOAD,
	 .argument = required_argument,
	 .read = msd_option_read_least,
	 .write = msd_option_write_least},
	{.name = "policy",
	 .when = MSD_OPTION_RELOAD,
	 .argument = required_argument,
	 .read = msd_option_read_policy,
	 .write = msd_option_write_policy},
	{.name = "auth",
	 .when = MSD_OPTION_RELOAD,
	 .argument = required_argument,
	 .offset = OF(terms.auth),
	 .read = msd_option_read_path,
	 .write = msd_option_write_path},
	{.name = "ca",
	 .when = MSD_OPTION_RELOAD,
	 .argument = required_argument,
	 .offset = OF(terms.ca),
	 .read = msd_option_read_path,
	 .write = msd_option_write_path},
	{.name = "proxy",
	 .when = MSD_OPTION_RELOAD,
	 .argument = required_argument,
	 .offset = OF(terms.proxy),
	 .read = msd_option_read_path,
	 .write = msd_option_write_path},
	{.name = "realm",
	 .when = MSD_OPTION_RELOAD,
	 .argument = required_argument,
	 .offset = OF(terms.realm),
	 .read = msd_option_read_path,
	 .write = msd_option_write_path},
	{.name = "insecure",
	 .when = MSD_OPTION_RELOAD,
	 .offset = OF(terms.insecure),
	 .read = msd_option_read_flag,
	 .write = msd_option_write_flag},
	{.name = "pull-from",
	 .when = MSD_OPTION_RELOAD,
	 .argument = required_argument,
	 .offset = OF(terms.pull_from.n),
	 .read = msd_option_read_pull_from,
	 .write = msd_option_write_pull_from,
	 .is_list = true},
	{.name = "config",
	 .argument = required_argument,
	 .offset = OF(config),
	 .read = msd_option_read_path},
	{.name = "check-config",
	 .argument = required_argument,
	 .offset = OF(config),
	 .read = msd_option_read_check},
	{.name = "print-config",
	 .value = MSD_RUN_PRINT_CONFIG,
	 .read = msd_option_read_action},
	{.name = "api", .value = MSD_RUN_API, .read = msd_option_read_action},
	{.name = "version", .value = MSD_RUN_VERSION, .read = msd_option_read_action},
	{.name = "help", .value = MSD_RUN_HELP, .read = msd_option_read_action},
	{.name = "help-all", .value = MSD_RUN_HELP_ALL, .read = msd_option_read_action},
#define MSD_LIMIT_OPTION(field_, option, when_, value_, sentence)                      \
	{.name = option,                                                               \
	 .when = MSD_OPTION_##when_,                                                   \
	 .argument = required_argument,                                                \
	 .offset = OF(limits.field_),                                                  \
	 .limit = sentence,                                                            \
	 .limit_field = #field_,                                                       \
	 .value = value_,                                                              \
	 .read = msd_option_read_limit,                                                \
	 .write = msd_option_write_limit},
	MSD_LIMIT_MAP(MSD_LIMIT_OPTION)
#undef MSD_LIMIT_OPTION
};
#define N_ROWS (sizeof(rows) / sizeof(rows[0]))
_Static_assert(N_ROWS <= MSD_MAX_OPTIONS, "an origin for each row");

static const struct {
	const char *former, *name;
} formers[] = {{"max-instances", "max-workers"},
	       {"max-upload", "max-upload-size"},
	       {"max-uploads", "max-concurrent-uploads"},
	       {"max-queued", "max-reply-buffer"},
	       {"max-segment-bytes", "max-peer-segment-memory"}};
#define N_FORMERS (sizeof(formers) / sizeof(formers[0]))
_Static_assert(N_FORMERS <= MSD_FORMER_OPTIONS, "room for each former name");

static const struct {
	const char *name, *zero;
} zeros[] = {{"max-upload-memory", "auto"},
	     {"max-memory", "auto"},
	     {"max-connection-memory", "auto"},
	     {"max-peer-memory", "auto"},
	     {"max-total-memory", "auto"},
	     {"max-segment-memory", "auto"},
	     {"max-peer-segment-memory", "auto"},
	     {"max-worker-memory", "auto"},
	     {"max-worker-processes", "auto"},
	     {"max-resident", "auto"},
	     {"max-store", "auto"},
	     {"max-worker-core", "off"},
	     {"max-directs", "off"},
	     {"spin", "off"},
	     {"slow-call", "off"},
	     {"watch", "off"},
	     {"drain-delay", "off"},
	     {"max-wait", "unlimited"},
	     {"max-run", "unlimited"},
	     {"first-frame", "unlimited"},
	     {"idle", "unlimited"}};

const struct msd_option *msd_option_row(unsigned i)
{
	return i < N_ROWS ? &rows[i] : NULL;
}

const char *msd_option_former(unsigned i)
{
	return i < N_FORMERS ? formers[i].former : NULL;
}

const char *msd_option_zero(const struct msd_option *row)
{
	for (size_t i = 0; i < sizeof(zeros) / sizeof(zeros[0]); i++) {
		if (strcmp(zeros[i].name, row->name) == 0)
			return zeros[i].zero;
	}
	return NULL;
}

unsigned msd_option_find(const char *name)
{
	unsigned i = 0;

	for (size_t k = 0; k < N_FORMERS; k++) {
		if (strcmp(formers[k].former, name) == 0)
			name = formers[k].name;
	}
	while (i < N_ROWS && strcmp(rows[i].name, name) != 0)
		i++;
	return i;
}

const char *msd_option_near(const char *name)
{
	const char *best = NULL;
	const char *former;
	struct msd_spelling near;

	msd_spelling_start(
		&near, (struct msd_span){(const uint8_t *)name, strcspn(name, "=")});
	for (unsigned i = 0; i < N_ROWS; i++) {
		msd_spelling_look(&near, msd_span_of(rows[i].name));
		if (near.best.p == (const uint8_t *)rows[i].name)
			best = rows[i].name;
	}
	for (unsigned i = 0; (former = msd_option_former(i)) != NULL; i++) {
		msd_spelling_look(&near, msd_span_of(former));
		if (near.best.p == (const uint8_t *)former)
			best = rows[msd_option_find(former)].name;
	}
	return best;
}

uint64_t *msd_option_limit(struct msd_limits *l, const struct msd_option *row)
{
	return (uint64_t *)(void *)((char *)l + (row->offset - OF(limits)));
}

void msd_option_defaults(struct msd_options *o)
{
	o->socket_mode = 0600;
	o->sandbox = MSD_SANDBOX_AUTO;
	for (unsigned i = 0; i < N_ROWS; i++) {
		if (rows[i].limit != NULL)
			*msd_option_limit(&o->limits, &rows[i]) = rows[i].value;
	}
	/* The worker would have to close descriptors that clients pass on such a
	 * channel. */
	if (!msd_socket_pair_is_tight())
		o->limits.max_directs = 0;
}
