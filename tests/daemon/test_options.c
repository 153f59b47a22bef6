#include <criterion/criterion.h>
#include <string.h>

#include "daemon/supervisor/config/default_store.h"
#include "daemon/supervisor/config/option_rows.h"
#include "daemon/supervisor/config/options_read.h"
#include "daemon/supervisor/config/preload.h"

/* Read a command line; NULL ends it. The options must be finished by the caller. */
static msd_err read_line(struct msd_options *o, struct msd_diag *d,
			 const char *const *words)
{
	char *argv[16] = {(char *)(uintptr_t) "modserd"};
	int argc = 1;

	for (; words[argc - 1] != NULL; argc++)
		argv[argc] = (char *)(uintptr_t)words[argc - 1];
	return msd_options_read(o, argc, argv, d);
}
#define READ(o, d, ...) read_line(o, d, (const char *[]){__VA_ARGS__, NULL})

Test(options, listen_takes_the_next_word_only_when_it_is_an_address)
{
	struct msd_options o;

	setenv("XDG_RUNTIME_DIR", "/tmp", 1);
	cr_assert_eq(READ(&o, NULL, "--listen", "--listen", "tcp://127.0.0.1:9190",
			  "--threads", "2"),
		     MSD_OK);
	cr_assert_eq(o.n_listen, 2);
	cr_expect_eq(o.listen[0].kind, MSD_ADDRESS_UNIX);
	cr_expect_eq(o.listen[1].port, 9190);
	cr_expect_eq(o.threads, 2);
	msd_options_finish(&o);
}

Test(options, agents_are_of_the_daemon_or_of_a_module)
{
	struct msd_options o;
	struct msd_buf text = {0};

	cr_assert_eq(READ(&o, NULL, "--listen=unix:/x", "--agent-check",
			  "127.0.0.1:9191", "--agent-check=one=[::1]:9192",
			  "--agent-check=unix:/a=b", "--agent-check=one=unix:/a=b"),
		     MSD_OK);
	cr_assert_eq(o.n_agents, 4);
	cr_expect_str_eq(o.agents[0].module, "");
	cr_expect_str_eq(o.agents[1].module, "one");
	cr_expect_eq(o.agents[1].address.port, 9192);
	cr_expect_str_eq(o.agents[2].module, "");
	cr_expect_str_eq(o.agents[2].address.path, "/a=b");
	cr_expect_str_eq(o.agents[3].module, "one");
	msd_options_write(&o, &text);
	msd_buf_put(&text, "", 1);
	cr_expect(strstr((const char *)text.p,
			 "{'127.0.0.1:9191', 'one=[::1]:9192', 'unix:/a=b', "
			 "'one=unix:/a=b'}") != NULL,
		  "%s", (const char *)text.p);
	msd_buf_finish(&text);
	msd_options_finish(&o);
}

Test(options, an_agent_of_no_module_or_no_address_is_refused)
{
	static const char *const bad[] = {"=127.0.0.1:9191", "a b=127.0.0.1:9191",
					  "one=", "one=tcp://127.0.0.1:9191",
					  "one=nowhere"};

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct msd_options o;
		struct msd_diag d = {0};

		cr_expect_eq(READ(&o, &d, "--listen=unix:/x", "--agent-check", bad[i]),
			     MSD_BAD_REQUEST, "%s", bad[i]);
		cr_expect(strstr(msd_diag_text(&d), "[NAME=]HOST:PORT") != NULL, "%s",
			  msd_diag_text(&d));
		msd_diag_finish(&d);
		msd_options_finish(&o);
	}
}

static msd_err read_pull_from(const char *url, struct msd_options *o)
{
	return READ(o, NULL, "--listen=unix:/x", "--pull-from", url);
}

Test(options, takes_the_beginnings_of_urls_to_pull_from)
{
	static const char *const good[] = {
		"https://models.example/",    "file:///srv/m",
		"http://127.0.0.1:8000/a/b/", "oci://h:5000",
		"modser://[::1]:9190/",       "file:///"};
	struct msd_options o;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		cr_expect_eq(read_pull_from(good[i], &o), MSD_OK, "%s", good[i]);
		cr_expect_eq(o.terms.pull_from.n, 1);
		cr_expect_str_eq(o.terms.pull_from.each[0], good[i]);
		msd_options_finish(&o);
	}
}

Test(options, refuses_to_pull_from_what_leaves_a_doubt)
{
	static const char *const bad[] = {"",
					  "models.example",
					  "/srv/m",
					  "ftp://h/",
					  "https://",
					  "https:///m/",
					  "https://user@h/",
					  "https://h/a@b",
					  "https://h/a%2fb",
					  "https://h/../m",
					  "https://h/.m",
					  "https://h/m?k=1",
					  "https://h/m#f",
					  "https://h/a b",
					  "https://h\\m/",
					  "file://",
					  "file://h/m",
					  "HTTPS://h/"};
	struct msd_options o;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		cr_expect_eq(read_pull_from(bad[i], &o), MSD_BAD_REQUEST, "%s", bad[i]);
		msd_options_finish(&o);
	}
}

Test(options, sizes_take_suffixes_and_an_equals_sign)
{
	struct msd_options o;

	cr_assert_eq(READ(&o, NULL, "--listen=unix:/x", "--max-upload-size=16M",
			  "--max-payload", "4096"),
		     MSD_OK);
	cr_expect_eq(o.limits.max_upload, 16u << 20);
	cr_expect_eq(o.limits.max_payload, 4096);
	msd_options_finish(&o);
}

Test(options, the_store_is_the_first_of_the_services_folders)
{
	struct msd_options o;

	setenv("STATE_DIRECTORY", "/var/lib/one:/var/lib/two", 1);
	cr_assert_eq(READ(&o, NULL, "--listen=unix:/x"), MSD_OK);
	cr_expect_str_eq(o.store, "/var/lib/one");
	msd_options_finish(&o);
}

static const char *store_of(struct msd_options *o)
{
	cr_assert_eq(READ(o, NULL, "--listen=unix:/x"), MSD_OK);
	return o->store != NULL ? o->store : "";
}

Test(options, without_a_word_the_store_is_in_the_users_state)
{
	struct msd_options o;

	unsetenv("STATE_DIRECTORY");
	unsetenv("MODSERD_STORE");
	unsetenv("XDG_STATE_HOME");
	setenv("HOME", "/users/one", 1);
	cr_expect_str_eq(store_of(&o), "/users/one/.local/state/modserd");
	cr_expect(o.may_lack_store);
	msd_options_finish(&o);
	setenv("XDG_STATE_HOME", "/state", 1);
	cr_expect_str_eq(store_of(&o), "/state/modserd");
	msd_options_finish(&o);
	setenv("XDG_STATE_HOME", "relative", 1);
	unsetenv("HOME");
	cr_expect_str_empty(store_of(&o));
	msd_options_finish(&o);
}

Test(options, a_store_can_be_named_by_the_environment_or_be_none)
{
	struct msd_options o;

	unsetenv("STATE_DIRECTORY");
	setenv("HOME", "/users/one", 1);
	setenv("MODSERD_STORE", "/some/store", 1);
	cr_expect_str_eq(store_of(&o), "/some/store");
	cr_expect_not(o.may_lack_store);
	msd_options_finish(&o);
	setenv("MODSERD_STORE", "none", 1);
	cr_expect_not(msd_store_is_named(store_of(&o)));
	msd_options_finish(&o);
	unsetenv("MODSERD_STORE");
	cr_assert_eq(READ(&o, NULL, "--listen=unix:/x", "--store=none"), MSD_OK);
	cr_expect_not(msd_store_is_named(o.store));
	msd_options_finish(&o);
}

Test(options, times_have_their_unit)
{
	struct msd_options o;

	cr_assert_eq(READ(&o, NULL, "--listen=unix:/x", "--drain=5s", "--kill-grace",
			  "50ms", "--idle=0"),
		     MSD_OK);
	cr_expect_eq(o.limits.drain_ms, 5000);
	cr_expect_eq(o.limits.kill_grace_ms, 50);
	cr_expect_eq(o.limits.idle_ms, 0);
	msd_options_finish(&o);
}

static const struct {
	const char *words[4];
	const char *named;
} wrong_lines[] = {
	{{"--listen=unix:/x", "--max-upload-size", "much"}, "--max-upload-size much"},
	{{"--listen=unix:/x", "--drain", "5"},
	 "--drain 5: 5: add the unit, such as 5s"},
	{{"--listen=unix:/x", "--frobnicate"}, "--frobnicate"},
	{{"--listen=unix:/x", "--load", "nofile"}, "NAME=FILE"},
	{{"--listen=unix:/x", "--load", "-bad=x.so"}, "-bad=x.so"},
	{{"--listen=unix:/x", "--load", "m="}, "NAME=FILE"},
	{{"--listen=unix:/x", "--load", "m=,device=cpu"}, "NAME=FILE"},
	{{"--listen=unix:/x", "--load=m=x.so,device=attic"}, "device attic"},
	{{"--listen=unix:/x", "--load=m=x.so,graph="}, "graph= has no value"},
	{{"--listen=unix:/x", "--load=m=x.so,grph=g"}, "grph=: no such key"},
	{{"--listen=unix:/x", "--load=m=x.so,era=old"}, "expected classic"},
	{{"--listen=unix:/x", "--load=m=x.so,graph=a,graph=b"}, "twice"},
	{{"--listen=unix:/x", "--load=m=x.so,workers=0"}, "workers 0"},
	{{"--listen=unix:/x", "--load=m=x.so,workers=2x"}, "workers 2x"},
	{{"--listen=unix:/x", "--drain=unlimited"}, "--drain unlimited"},
	{{"--listen=unix:/x", "--threads", "0"}, "--threads 0"},
	{{"--listen=unix:/x", "--socket-mode", "rw"}, "octal"},
	{{"--listen=unix:/x", "--max-upload-size"}, "--max-upload-size"},
	{{"--listen=gopher:/x"}, "gopher:/x"},
	{{"--listen=unix:/x", "--http", "http://localhost:80"}, "https://HOST:PORT"},
	{{"--listen=unix:/x", "--http", "https://unix:/y"}, "https://HOST:PORT"},
	{{"--listen=unix:/x", "--http", "8000"}, "HOST:PORT"},
	{{"--listen", "m.sock"}, "m.sock: expected an option"}};

Test(options, refused_with_the_option_and_what_it_takes)
{
	for (unsigned i = 0; i < sizeof(wrong_lines) / sizeof(wrong_lines[0]); i++) {
		struct msd_options o;
		struct msd_diag d = {0};
		cr_expect_eq(read_line(&o, &d, wrong_lines[i].words), MSD_BAD_REQUEST,
			     "line %u", i);
		cr_expect_not_null(strstr(msd_diag_text(&d), wrong_lines[i].named),
				   "line %u: %s", i, msd_diag_text(&d));
		msd_diag_finish(&d);
		msd_options_finish(&o);
	}
}

Test(options, a_number_that_overflows_with_its_suffix_is_refused)
{
	struct msd_options o;

	cr_expect_eq(
		READ(&o, NULL, "--listen=unix:/x", "--max-upload-size", "17179869184G"),
		MSD_BAD_REQUEST);
	msd_options_finish(&o);
}

Test(options, load_takes_keys_beside_the_library)
{
	struct msd_options o;

	cr_assert_eq(READ(&o, NULL, "--listen=unix:/x", "--load",
			  "m=lib,v1.so,graph=g.json,device=opencl:1,params=p,q.params,"
			  "workers=3,abi=classic",
			  "--load", "n=b.so"),
		     MSD_OK);
	cr_assert_eq(o.n_preloads, 2);
	cr_expect_str_eq(o.preloads[0].name, "m");
	cr_expect_str_eq(o.preloads[0].file, "lib,v1.so");
	cr_expect_str_eq(o.preloads[0].graph, "g.json");
	cr_expect_str_eq(o.preloads[0].params, "p,q.params");
	cr_expect_eq(o.preloads[0].run.device_list.at[0].type, 4);
	cr_expect_eq(o.preloads[0].run.device_list.at[0].id, 1);
	cr_expect_eq(o.preloads[0].run.workers, 3);
	cr_expect_eq(o.preloads[0].run.era, MSD_ERA_SAID_CLASSIC);
	cr_expect_str_eq(o.preloads[1].file, "b.so");
	cr_expect_null(o.preloads[1].graph);
	cr_expect_eq(o.preloads[1].run.device_list.n, 0);
	cr_expect_eq(o.preloads[1].run.workers, 0);
	msd_options_finish(&o);
}

Test(options, former_names_are_accepted)
{
	struct msd_options o;

	cr_assert_eq(READ(&o, NULL, "--max-instances=2", "--max-upload", "16M",
			  "--max-uploads=3", "--max-queued=1M",
			  "--max-segment-bytes=2M", "--load",
			  "m=a.so,instances=3,era=ffi,tvm_inputs=yes,fill=zero,"
			  "keep_alive=1m,batch=4,within=5ms,max_run=1s"),
		     MSD_OK);
	cr_expect_eq(o.limits.max_workers, 2);
	cr_expect_eq(o.limits.max_upload, 16u << 20);
	cr_expect_eq(o.limits.max_uploads, 3);
	cr_expect_eq(o.limits.max_queued, 1u << 20);
	cr_expect_eq(o.limits.max_segment_bytes, 2u << 20);
	cr_expect_eq(o.preloads[0].run.workers, 3);
	cr_expect_eq(o.preloads[0].run.era, MSD_ERA_SAID_FFI);
	cr_expect(o.preloads[0].run.tvm_inputs);
	cr_expect_eq(o.preloads[0].run.keep_alive.ms, 60000);
	cr_expect_eq(o.preloads[0].run.batch_delay.ms, 5);
	cr_expect_eq(o.preloads[0].run.max_run.ms, 1000);
	msd_options_finish(&o);
	cr_expect_eq(READ(&o, NULL, "--load", "m=a.so,era=ffi,abi=ffi"),
		     MSD_BAD_REQUEST);
	msd_options_finish(&o);
}

Test(options, a_limit_of_zero_has_a_word)
{
	struct msd_options o;
	struct msd_buf text = {0};

	cr_assert_eq(READ(&o, NULL, "--max-run=unlimited", "--spin=off",
			  "--max-memory=auto", "--load",
			  "m=a.so,max-run=unlimited,keep-alive=off"),
		     MSD_OK);
	cr_expect_eq(o.limits.max_run_ms, 0);
	cr_expect_eq(o.limits.spin_us, 0);
	cr_expect(o.preloads[0].run.max_run.is_given &&
		  o.preloads[0].run.max_run.ms == 0);
	msd_options_write(&o, &text);
	msd_buf_put(&text, "", 1);
	cr_expect_not_null(strstr((const char *)text.p, "max-run = unlimited  #"));
	cr_expect_not_null(strstr((const char *)text.p, "spin = off  #"));
	cr_expect_not_null(strstr((const char *)text.p, "max-store = auto  # default"));
	msd_buf_finish(&text);
	msd_options_finish(&o);
}

Test(options, a_socket_that_is_handed_over_needs_no_listen)
{
	struct msd_options o;

	cr_assert_eq(READ(&o, NULL, "--load", "a=b.so"), MSD_OK);
	cr_expect_eq(msd_options_check_listen(&o, 0, NULL), MSD_BAD_REQUEST);
	cr_expect_eq(msd_options_check_listen(&o, 1, NULL), MSD_OK);
	msd_options_finish(&o);
}

Test(options, http_is_an_address_like_another)
{
	struct msd_options o;

	cr_assert_eq(READ(&o, NULL, "--http", "127.0.0.1:8000"), MSD_OK);
	cr_expect_eq(msd_options_check_listen(&o, 0, NULL), MSD_OK);
	cr_expect_eq(o.http.kind, MSD_ADDRESS_TCP);
	msd_options_finish(&o);
}

Test(options, https_is_said_by_its_scheme_and_written_so)
{
	const struct msd_option *row = msd_option_row(msd_option_find("http"));
	struct msd_options o;
	struct msd_buf text = {0};

	cr_assert_eq(READ(&o, NULL, "--http", "https://[::1]:8443"), MSD_OK);
	cr_expect_eq(o.http.kind, MSD_ADDRESS_TLS);
	cr_expect_eq(o.http.port, 8443);
	row->write(&o, row, &text);
	msd_buf_put(&text, "", 1);
	cr_expect_str_eq((const char *)text.p, "'https://[::1]:8443'");
	msd_buf_finish(&text);
	msd_options_finish(&o);
}
