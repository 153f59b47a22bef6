#include <criterion/criterion.h>
#include <string.h>

#include "daemon/supervisor/config/config.h"
#include "daemon/supervisor/config/option_rows.h"
#include "daemon/supervisor/config/preload.h"

static msd_err parse(struct msd_options *o, const char *text, struct msd_diag *d)
{
	*o = (struct msd_options){0};
	msd_option_defaults(o);
	return msd_config_parse(o, "m.conf", msd_span_of(text), false, d);
}

Test(config, says_what_the_command_line_says)
{
	struct msd_options o;
	struct msd_diag d = {0};

	cr_assert_eq(parse(&o,
			   "# of the fleet\n"
			   "listen = {\"unix:/run/m.sock\", // ours\n"
			   "          tcp://127.0.0.1:9190} /* and\n theirs */\n"
			   "max-upload = 16M  allow-load-tcp = yes drain = 1.5s\n"
			   "module digits { file = '/srv/d.so' workers = 2 }\n",
			   &d),
		     MSD_OK, "%s", msd_diag_text(&d));
	cr_expect_eq(o.n_listen, 2);
	cr_expect_eq(o.listen[1].port, 9190);
	cr_expect_eq(o.limits.max_upload, 16u << 20);
	cr_expect_eq(o.limits.drain_ms, 1500);
	cr_expect(o.allow_load_tcp);
	cr_assert_eq(o.n_preloads, 1);
	cr_expect_str_eq(o.preloads[0].file, "/srv/d.so");
	cr_expect_eq(o.preloads[0].run.workers, 2);
	msd_options_finish(&o);
}

Test(config, every_value_knows_its_line_behind_comments)
{
	struct msd_options o;

	cr_assert_eq(parse(&o, "# one\n/* two\n three */ // four\nthreads = 2\n", NULL),
		     MSD_OK);
	cr_expect_str_eq(o.origins[msd_option_find("threads")], "m.conf:4");
	cr_expect_null(o.origins[msd_option_find("listen")]);
	msd_options_finish(&o);
}

static const struct {
	const char *text, *said;
} wrong_files[] = {
	{"\nmax-uplaod = 3\n", "m.conf:2: no such option 'max-uplaod'"},
	{"threads = 2\nthreads = 3\n", "m.conf:2: threads: is given twice"},
	{"listen = {unix:/a}\nlisten = {unix:/b}", "m.conf:2: listen: is given twice"},
	{"listen = {unix:/a}\nlisten = {}", "listen: is given twice"},
	{"workers = 2\n", "m.conf:1: no such option 'workers'"},
	{"module m { file = x\nmax-upload = 3 }\n", "m.conf:2: no such option"},
	{"module m { file = x\nfile = y }\n", "m.conf:2: module m: file= is given"},
	{"module m { file = x workers=1\nworkers=1 }", "m.conf:2: module m: workers="},
	{"module m { file = x }\nmodule m { file = y }\n", "m.conf:2: found duplicate"},
	{"module m {\n}\n", "m: expected file = or source ="},
	{"module m { workers = 2 }\n", "m: expected file = or source ="},
	{"module m { file = a source = 'file:///a' }\n",
	 "m: file and source exclude each other"},
	{"module m { source = 'file:///a' graph = g }\n",
	 "graph, params and external-data need file"},
	{"module m { file = a poll = 5m }\n", "m: poll needs source ="},
	{"module m { file = a policy = signed }\n",
	 "m: policy, auth, ca, proxy, realm and insecure need source ="},
	{"module m { source = 'file:///a' policy = trust }\n",
	 "policy trust: expected signed, digest or unsigned"},
	{"module m { source = 'file:///a' poll = 4s }\n",
	 "poll 4s: expected 5s or more"},
	{"module { file = x }\n", "m.conf:1: missing title"},
	{"module 'a b' { file = x }\n", "expected a NAME"},
	{"module m { file = x colour = y }\n", "no such option 'colour'"},
	{"module m { file = x workers = many }", "module m: workers many: expected"},
	{"threads = 2\nmodule m { file = x\n",
	 "m.conf:2: the brace that opens here is not closed"},
	{"module a { file = x\nmodule b { file = y }\n", "m.conf:1: the brace"},
	{"\nlisten = {unix:/a", "m.conf:2: the brace that opens here is not closed"},
	{"threads =", "m.conf:1: the file ends inside a section"},
	{"/* threads = 2\n", "m.conf:1: a comment is not closed"},
	{"\nstore = \"/srv\n", "m.conf:2: a string is not closed"},
	{"\nstore = \"/srv/${HOME}\"\n", "m.conf:2: ${...} is not expanded"},
	{"end-of-file = here\n", "m.conf:1: end-of-file: no such option"},
	{"max-upload = much\n", "m.conf:1: max-upload = much: expected a number"},
	{"\ndrain = 5\n", "m.conf:2: drain = 5: 5: add the unit"},
	{"socket-mode = rw\n", "m.conf:1: socket-mode = rw: expected an octal"},
	{"insecure-tcp = perhaps\n", "expected yes or no"},
	{"listen = {gopher:/x}\n", "m.conf:1: listen = gopher:/x: "},
	{"load = m=x.so\n", "no such option 'load'"},
	{"config = /x\n", "no such option 'config'"},
	{"include(\"/etc/passwd\")\n", "no such option 'include'"},
	{"}\n", "m.conf:1: unexpected closing brace"}};

Test(config, refused_with_file_line_and_key)
{
	for (unsigned i = 0; i < sizeof(wrong_files) / sizeof(wrong_files[0]); i++) {
		struct msd_options o;
		struct msd_diag d = {0};

		cr_expect_neq(parse(&o, wrong_files[i].text, &d), MSD_OK, "%s",
			      wrong_files[i].text);
		cr_expect_not_null(strstr(msd_diag_text(&d), wrong_files[i].said),
				   "%s: %s", wrong_files[i].text, msd_diag_text(&d));
		msd_diag_finish(&d);
		msd_options_finish(&o);
	}
}

Test(config, a_byte_zero_is_refused)
{
	struct msd_options o = {0};

	cr_expect_eq(msd_config_parse(&o, "m.conf",
				      (struct msd_span){(const uint8_t *)"a\0b", 3},
				      false, NULL),
		     MSD_BAD_REQUEST);
	msd_options_finish(&o);
}

Test(config, single_quotes_keep_every_character)
{
	struct msd_options o;

	cr_assert_eq(parse(&o, "store = '/a ${b} \\'c\\' \\\\ # d'\n", NULL), MSD_OK);
	cr_expect_str_eq(o.store, "/a ${b} 'c' \\ # d");
	msd_options_finish(&o);
}

Test(config, what_is_printed_is_read_as_the_same)
{
	struct msd_options o, again;
	struct msd_buf first = {0};

	cr_assert_eq(parse(&o,
			   "listen = {'unix:/a b'} store = 'it\\'s' max-upload = 3K\n"
			   "module m { file = '/x,y' device = opencl:1 era = ffi }",
			   NULL),
		     MSD_OK);
	msd_options_write(&o, &first);
	msd_buf_put(&first, "", 1);
	cr_assert_eq(parse(&again, (const char *)first.p, NULL), MSD_OK, "%s",
		     (const char *)first.p);
	cr_expect_str_eq(again.store, "it's");
	cr_expect_eq(again.limits.max_upload, 3072);
	cr_expect_str_eq(again.preloads[0].file, "/x,y");
	cr_expect_eq(again.preloads[0].run.device_list.at[0].id, 1);
	msd_buf_finish(&first);
	msd_options_finish(&o);
	msd_options_finish(&again);
}
