#include <string.h>

#include "proto/words/run_options.h"
#include "tests/fuzz/fuzz.h"

/* The key of "KEY=VALUE"; NULL: there is none. */
static const struct msd_run_key *key_of(struct msd_span text,
					struct msd_span *ret_value)
{
	const uint8_t *equals = text.n > 0 ? memchr(text.p, '=', text.n) : NULL;
	const size_t n = equals != NULL ? (size_t)(equals - text.p) : 0;
	char name[64];

	if (equals == NULL || n >= sizeof(name))
		return NULL;
	memcpy(name, text.p, n);
	name[n] = '\0';
	*ret_value = (struct msd_span){equals + 1, text.n - n - 1};
	return msd_run_key_find(name);
}

static void print(const struct msd_run_key *key, const struct msd_run_options *o,
		  struct msd_buf *ret)
{
	*ret = (struct msd_buf){0};
	if (msd_run_option_is_given(key, o))
		msd_run_option_print(key, o, ret);
	MUST(!ret->bad);
}

static void must_be_same(struct msd_buf *a, struct msd_buf *b)
{
	MUST(a->n == b->n && (a->n == 0 || memcmp(a->p, b->p, a->n) == 0));
	msd_buf_finish(b);
}

/* Both the printed and the sent form are read as the same value. */
static void come_back(const struct msd_run_key *key, const struct msd_run_options *o)
{
	struct msd_run_options back = {0};
	struct msd_buf text, again, map = {0};

	print(key, o, &text);
	if (text.n > 0) {
		const struct msd_span span = {text.p, text.n};
		MUST(msd_run_option_parse(key, span, &back, NULL) == MSD_OK);
		print(key, &back, &again);
		must_be_same(&text, &again);
	}
	const unsigned fronts = key->fronts & MSD_RUN_BOTH;
	msd_pack_map(&map, msd_run_options_count(o, fronts));
	msd_run_options_pack(o, fronts, &map);
	MUST(!map.bad);
	back = (struct msd_run_options){0};
	MUST(msd_run_options_read((struct msd_span){map.p, map.n}, fronts, &back,
				  NULL) == MSD_OK);
	print(key, &back, &again);
	must_be_same(&text, &again);
	msd_buf_finish(&text);
	msd_buf_finish(&map);
}

int msd_fuzz_accepts(const uint8_t *data, size_t n)
{
	const struct msd_run_options none = {0};
	struct msd_run_options o = {0};
	struct msd_span value;
	struct msd_diag d = {0};
	const struct msd_run_key *key = key_of((struct msd_span){data, n}, &value);

	if (key == NULL)
		return 0;
	const msd_err err = msd_run_option_parse(key, value, &o, &d);
	if (err == MSD_OK) {
		come_back(key, &o);
	} else {
		MUST(memcmp(&o, &none, sizeof(o)) == 0);
		MUST(d.text != NULL);
	}
	msd_diag_finish(&d);
	return err == MSD_OK;
}
