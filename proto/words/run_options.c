/*
 * The kinds of run options, each with its parser, printer, reader and packer.
 *
 * Happy path: a row of MSD_RUN_KEY_MAP names the kind of its value, and the kind reads
 * or writes the member at the row's offset. Failures: a value of another form is
 * refused with the key and the expected form; the member is unchanged.
 */
#include "proto/words/run_options.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "proto/base/argv.h"
#include "proto/base/duration.h"

#define NUMBER_BYTES 64u /* longer texts are not a number */

struct msd_run_kind {
	/* @key_text is the key as the caller wrote it, for error texts. */
	msd_err (*parse)(const struct msd_run_key *key, const char *key_text,
			 struct msd_span text, struct msd_run_options *ret,
			 struct msd_diag *d);
	enum msd_kind on_wire;
	/* NULL: the value on the wire is the text. */
	msd_err (*read)(const struct msd_run_key *key,
			const struct msd_wire_value *value, struct msd_run_options *ret,
			struct msd_diag *d);
	bool (*is_given)(const void *field);
	void (*print)(const struct msd_run_key *key, const void *field,
		      struct msd_buf *ret);
	void (*pack)(const void *field, struct msd_buf *ret); /* NULL: as text */
};

struct count {
	uint32_t least, most;
	const char *expected;
};

struct duration {
	const char *zero; /* this word means 0 */
	uint64_t most_ms;
	const char *most; /* for people */
};

typedef msd_err take_text(struct msd_model_words *w, struct msd_span text,
			  struct msd_diag *d);

static void *field_of(const struct msd_run_key *key, struct msd_run_options *o)
{
	return (char *)o + key->field;
}

static msd_err expected(const char *key, struct msd_span text, const char *what,
			struct msd_diag *d)
{
	return msd_diag_set(d, MSD_BAD_REQUEST, "%s %.*s: expected %s", key,
			    (int)(text.n < NUMBER_BYTES ? text.n : NUMBER_BYTES),
			    (const char *)text.p, what);
}

/* Copy @text, which has no NUL at its end; false if it is too long or has one inside.
 */
static bool copy(struct msd_span text, char ret[static NUMBER_BYTES])
{
	if (text.n >= NUMBER_BYTES || memchr(text.p, '\0', text.n) != NULL)
		return false;
	if (text.n > 0)
		memcpy(ret, text.p, text.n);
	ret[text.n] = '\0';
	return true;
}

static msd_err parse_devices(const struct msd_run_key *key, const char *key_text,
			     struct msd_span text, struct msd_run_options *ret,
			     struct msd_diag *d)
{
	struct msd_device_list list;

	if (!msd_device_list_parse(text, &list))
		return expected(key_text, text, MSD_DEVICE_LIST_EXPECTED, d);
	*(struct msd_device_list *)field_of(key, ret) = list;
	return MSD_OK;
}

static bool has_devices(const void *field)
{
	return ((const struct msd_device_list *)field)->n > 0;
}

static void print_devices(const struct msd_run_key *key, const void *field,
			  struct msd_buf *ret)
{
	char text[MSD_DEVICE_LIST_TEXT_MAX];

	(void)key;
	msd_buf_printf(ret, "%s", msd_device_list_format(field, text));
}

static msd_err parse_count(const struct msd_run_key *key, const char *key_text,
			   struct msd_span text, struct msd_run_options *ret,
			   struct msd_diag *d)
{
	const struct count *of = key->parameter;
	char digits[NUMBER_BYTES];
	uint32_t n;

	if (!copy(text, digits) || !msd_argv_count(digits, &n) || n < of->least ||
	    n > of->most)
		return expected(key_text, text, of->expected, d);
	*(uint32_t *)field_of(key, ret) = n;
	return MSD_OK;
}

static msd_err read_count(const struct msd_run_key *key,
			  const struct msd_wire_value *value,
			  struct msd_run_options *ret, struct msd_diag *d)
{
	const struct count *of = key->parameter;

	if (value->as.i < of->least || value->as.i > of->most) {
		return msd_diag_set(d, MSD_BAD_REQUEST, "%s %" PRId64 ": expected %s",
				    key->wire, value->as.i, of->expected);
	}
	*(uint32_t *)field_of(key, ret) = (uint32_t)value->as.i;
	return MSD_OK;
}

static bool has_count(const void *field)
{
	return *(const uint32_t *)field > 0;
}

static void print_count(const struct msd_run_key *key, const void *field,
			struct msd_buf *ret)
{
	(void)key;
	msd_buf_printf(ret, "%" PRIu32, *(const uint32_t *)field);
}

static void pack_count(const void *field, struct msd_buf *ret)
{
	msd_pack_uint(ret, *(const uint32_t *)field);
}

static msd_err parse_word(const struct msd_run_key *key, const char *key_text,
			  struct msd_span text, struct msd_run_options *ret,
			  struct msd_diag *d)
{
	const struct msd_word_list *list = key->parameter;

	if (msd_word_list_find(list, text, field_of(key, ret)))
		return MSD_OK;
	return expected(key_text, text, list->expected, d);
}

static bool has_word(const void *field)
{
	return *(const unsigned *)field > 0;
}

static void print_word(const struct msd_run_key *key, const void *field,
		       struct msd_buf *ret)
{
	const struct msd_word_list *list = key->parameter;

	msd_buf_printf(ret, "%s", list->words[*(const unsigned *)field]);
}

static msd_err parse_flag(const struct msd_run_key *key, const char *key_text,
			  struct msd_span text, struct msd_run_options *ret,
			  struct msd_diag *d)
{
	char word[NUMBER_BYTES];

	if (copy(text, word) && msd_argv_flag(word, field_of(key, ret)))
		return MSD_OK;
	return expected(key_text, text, "yes or no", d);
}

static msd_err read_flag(const struct msd_run_key *key,
			 const struct msd_wire_value *value,
			 struct msd_run_options *ret, struct msd_diag *d)
{
	(void)d;
	*(bool *)field_of(key, ret) = value->as.b;
	return MSD_OK;
}

static bool has_flag(const void *field)
{
	return *(const bool *)field;
}

static void print_flag(const struct msd_run_key *key, const void *field,
		       struct msd_buf *ret)
{
	(void)key;
	msd_buf_printf(ret, "%s", *(const bool *)field ? "yes" : "no");
}

static void pack_flag(const void *field, struct msd_buf *ret)
{
	msd_pack_bool(ret, *(const bool *)field);
}

static msd_err check_time(const struct msd_run_key *key, const char *key_text,
			  struct msd_span text, uint64_t ms,
			  struct msd_run_options *ret, struct msd_diag *d)
{
	const struct duration *of = key->parameter;

	if (ms > of->most_ms)
		return expected(key_text, text, of->most, d);
	*(struct msd_given_ms *)field_of(key, ret) =
		(struct msd_given_ms){.is_given = true, .ms = ms};
	return MSD_OK;
}

static msd_err parse_time(const struct msd_run_key *key, const char *key_text,
			  struct msd_span text, struct msd_run_options *ret,
			  struct msd_diag *d)
{
	const struct duration *of = key->parameter;
	char word[NUMBER_BYTES];
	struct msd_diag why = {0};
	uint64_t ms = 0;

	if (!copy(text, word))
		return expected(key_text, text, "a time such as 500ms or 5s", d);
	if (strcmp(word, of->zero) != 0 &&
	    msd_duration_parse(word, &ms, &why) != MSD_OK) {
		(void)msd_diag_set(d, MSD_BAD_REQUEST, "%s %s", key_text,
				   msd_diag_text(&why));
		msd_diag_finish(&why);
		return MSD_BAD_REQUEST;
	}
	return check_time(key, key_text, text, ms, ret, d);
}

static msd_err read_time(const struct msd_run_key *key,
			 const struct msd_wire_value *value,
			 struct msd_run_options *ret, struct msd_diag *d)
{
	char digits[NUMBER_BYTES];

	(void)snprintf(digits, sizeof(digits), "%" PRId64, value->as.i);
	if (value->as.i < 0) {
		return msd_diag_set(d, MSD_BAD_REQUEST, "%s: %s is negative", key->wire,
				    digits);
	}
	return check_time(key, key->wire, msd_span_of(digits), (uint64_t)value->as.i,
			  ret, d);
}

static bool has_time(const void *field)
{
	return ((const struct msd_given_ms *)field)->is_given;
}

static void print_time(const struct msd_run_key *key, const void *field,
		       struct msd_buf *ret)
{
	(void)key;
	msd_buf_printf(ret, "%" PRIu64 "ms", ((const struct msd_given_ms *)field)->ms);
}

static void pack_time(const void *field, struct msd_buf *ret)
{
	msd_pack_uint(ret, ((const struct msd_given_ms *)field)->ms);
}

/* The parsers' texts begin with the key, which is the same on the wire. */
static msd_err parse_text(const struct msd_run_key *key, const char *key_text,
			  struct msd_span text, struct msd_run_options *ret,
			  struct msd_diag *d)
{
	take_text *const *take = key->parameter;

	(void)key_text;
	return (*take)(&ret->words, text, d);
}

static bool has_text(const void *field)
{
	return *(const char *)field != '\0';
}

static void print_text(const struct msd_run_key *key, const void *field,
		       struct msd_buf *ret)
{
	(void)key;
	msd_buf_printf(ret, "%s", (const char *)field);
}

static const struct msd_run_kind devices = {parse_devices, MSD_K_STR,     NULL,
					    has_devices,   print_devices, NULL};
static const struct msd_run_kind counts = {parse_count, MSD_K_INT,   read_count,
					   has_count,   print_count, pack_count};
static const struct msd_run_kind words = {parse_word, MSD_K_STR,  NULL,
					  has_word,   print_word, NULL};
static const struct msd_run_kind flags = {parse_flag, MSD_K_BOOL, read_flag,
					  has_flag,   print_flag, pack_flag};
static const struct msd_run_kind times = {parse_time, MSD_K_INT,  read_time,
					  has_time,   print_time, pack_time};
static const struct msd_run_kind texts = {parse_text, MSD_K_STR,  NULL,
					  has_text,   print_text, NULL};

/* Parameters of the rows. */
static const struct count processes = {1, UINT32_MAX,
				       "a number of processes, 1 or more"};
static const struct count rows = {2, MSD_BATCH_ROWS_MAX, "2 to 65536 rows"};
static const struct count pool = {1, MSD_THREADS_MAX, "1 to 1024 threads"};
static const struct duration delay = {"off", MSD_BATCH_DELAY_MAX_MS, "10 s at most"};
static const struct duration run = {"unlimited", UINT32_MAX,
				    "less than 49 days, or unlimited"};
static const struct duration idle = {"off", UINT32_MAX, "less than 49 days, or off"};
static take_text *const formats = msd_model_words_format;
static take_text *const inputs = msd_model_words_input;
static take_text *const outputs = msd_model_words_outputs;
static take_text *const signatures = msd_model_words_signature;

#define KIND_DEVICES &devices
#define KIND_COUNT &counts
#define KIND_WORD &words
#define KIND_FLAG &flags
#define KIND_TIME &times
#define KIND_TEXT &texts

const struct msd_run_key msd_run_keys[MSD_RUN_KEYS] = {
#define ROW(NAME, member, KIND, parameter, fronts, key, former, wire, ...)             \
	{key,                                                                          \
	 wire,                                                                         \
	 former,                                                                       \
	 KIND_##KIND,                                                                  \
	 offsetof(struct msd_run_options, member),                                     \
	 fronts,                                                                       \
	 parameter},
	MSD_RUN_KEY_MAP(ROW)
#undef ROW
};

const struct msd_run_key *msd_run_key_find(const char *name)
{
	for (unsigned i = 0; i < MSD_RUN_KEYS; i++) {
		const struct msd_run_key *key = &msd_run_keys[i];

		if (strcmp(name, key->name) == 0 ||
		    (key->former != NULL && strcmp(name, key->former) == 0))
			return key;
	}
	return NULL;
}

const struct msd_run_key *msd_run_key_of_wire(struct msd_span wire, unsigned fronts)
{
	for (unsigned i = 0; i < MSD_RUN_KEYS; i++) {
		if ((msd_run_keys[i].fronts & fronts) != 0 &&
		    msd_span_is(wire, msd_run_keys[i].wire))
			return &msd_run_keys[i];
	}
	return NULL;
}

msd_err msd_run_option_parse(const struct msd_run_key *key, struct msd_span text,
			     struct msd_run_options *ret, struct msd_diag *d)
{
	return key->kind->parse(key, key->name, text, ret, d);
}

static const char *with_article(enum msd_kind kind)
{
	static const char *const types[MSD_K_COUNT] = {
		[MSD_K_NIL] = "nil",       [MSD_K_BOOL] = "a bool",
		[MSD_K_INT] = "an int",    [MSD_K_FLOAT] = "a float",
		[MSD_K_STR] = "a str",     [MSD_K_BYTES] = "bytes",
		[MSD_K_TUPLE] = "an array"};

	return kind < MSD_K_COUNT && types[kind] != NULL ? types[kind]
							 : "another value";
}

msd_err msd_run_option_read(const struct msd_run_key *key,
			    const struct msd_wire_value *value,
			    struct msd_run_options *ret, struct msd_diag *d)
{
	const struct msd_run_kind *kind = key->kind;

	if (value->kind != kind->on_wire) {
		return msd_diag_set(d, MSD_BAD_REQUEST, "%s: %s expected, not %s",
				    key->wire, with_article(kind->on_wire),
				    with_article(value->kind));
	}
	if (kind->read != NULL)
		return kind->read(key, value, ret, d);
	if (value->as.str.n == 0) /* as if it was not given */
		return MSD_OK;
	return kind->parse(key, key->wire, value->as.str, ret, d);
}

bool msd_run_option_is_given(const struct msd_run_key *key,
			     const struct msd_run_options *o)
{
	return key->kind->is_given((const char *)o + key->field);
}

void msd_run_option_print(const struct msd_run_key *key,
			  const struct msd_run_options *o, struct msd_buf *ret)
{
	key->kind->print(key, (const char *)o + key->field, ret);
}

static void pack_as_text(const struct msd_run_key *key, const void *field,
			 struct msd_buf *ret)
{
	struct msd_buf text = {0};

	key->kind->print(key, field, &text);
	msd_pack_str(ret, (const char *)text.p, text.n);
	ret->bad = ret->bad || text.bad;
	msd_buf_finish(&text);
}

static bool is_packed(const struct msd_run_key *key, const struct msd_run_options *o,
		      unsigned fronts)
{
	return (key->fronts & fronts) != 0 && msd_run_option_is_given(key, o);
}

uint32_t msd_run_options_count(const struct msd_run_options *o, unsigned fronts)
{
	uint32_t n = 0;

	for (unsigned i = 0; i < MSD_RUN_KEYS; i++)
		n += is_packed(&msd_run_keys[i], o, fronts);
	return n;
}

void msd_run_options_pack(const struct msd_run_options *o, unsigned fronts,
			  struct msd_buf *ret)
{
	for (unsigned i = 0; i < MSD_RUN_KEYS; i++) {
		const struct msd_run_key *key = &msd_run_keys[i];
		const void *field = (const char *)o + key->field;

		if (!is_packed(key, o, fronts))
			continue;
		msd_pack_cstr(ret, key->wire);
		if (key->kind->pack != NULL) {
			key->kind->pack(field, ret);
		} else {
			pack_as_text(key, field, ret);
		}
	}
}

void msd_run_options_describe(const struct msd_run_options *o, unsigned fronts,
			      struct msd_buf *ret)
{
	msd_pack_map(ret, msd_run_options_count(o, fronts));
	for (unsigned i = 0; i < MSD_RUN_KEYS; i++) {
		const struct msd_run_key *key = &msd_run_keys[i];

		if (!is_packed(key, o, fronts))
			continue;
		msd_pack_cstr(ret, key->name);
		pack_as_text(key, (const char *)o + key->field, ret);
	}
}

msd_err msd_run_options_read(struct msd_span map, unsigned fronts,
			     struct msd_run_options *ret, struct msd_diag *d)
{
	msd_err err = MSD_OK;

	for (unsigned i = 0; err == MSD_OK && i < MSD_RUN_KEYS; i++) {
		const struct msd_run_key *key = &msd_run_keys[i];
		struct msd_cur at = msd_cur_of(msd_map_value(map, key->wire));
		struct msd_wire_value value;

		if ((key->fronts & fronts) == 0 || at.left == 0)
			continue;
		if (msd_value_read(&at, &value, NULL) != MSD_OK)
			value.kind = MSD_K_COUNT; /* a map, or a number over int64 */
		err = msd_run_option_read(key, &value, ret, d);
	}
	return err;
}

msd_err msd_run_options_check(const struct msd_run_options *o, struct msd_diag *d)
{
	if (o->batch_delay.ms == 0 || o->batch_rows > 0)
		return MSD_OK;
	return msd_diag_set(d, MSD_BAD_REQUEST,
			    "batch-delay is the time that a call waits for others of "
			    "its batch: give batch, too");
}
