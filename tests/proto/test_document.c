/* proto/PROTOCOL.md says what the headers say, and its hex dumps are what the code
 * writes. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/body.h"
#include "proto/frame.h"
#include "proto/method.h"
#include "proto/value.h"

static char *document;

static char *read_text(const char *path)
{
	FILE *f = fopen(path, "rb");
	char *text = calloc(1, 1u << 20);

	cr_assert(f != NULL && text != NULL, "%s", path);
	cr_assert_lt(fread(text, 1, (1u << 20) - 1, f), (1u << 20) - 1);
	(void)fclose(f);
	return text;
}

static void load(void)
{
	document = read_text(MSD_SOURCE_DIR "/proto/PROTOCOL.md");
}

static void unload(void)
{
	free(document);
}
TestSuite(document, .init = load, .fini = unload);

static bool has_line_that_begins(const char *text)
{
	for (const char *at = document; (at = strstr(at, text)) != NULL; at++) {
		if (at == document || at[-1] == '\n')
			return true;
	}
	return false;
}

/* Lines of section @from up to @to that begin with @text. */
static unsigned count_lines(const char *from, const char *to, const char *text)
{
	const char *end = strstr(document, to);
	unsigned n = 0;

	cr_assert_not_null(end);
	for (const char *at = strstr(document, from); at != NULL && at < end;) {
		n += strncmp(at, text, strlen(text)) == 0;
		at = strchr(at, '\n');
		at = at != NULL ? at + 1 : NULL;
	}
	return n;
}

Test(document, has_every_error)
{
	char row[256];

	for (int i = 0; i < MSD_ERR_COUNT; i++) {
		(void)snprintf(row, sizeof(row), "| %d | `%s` | %s | ", i,
			       msd_err_name((msd_err)i), msd_err_sentence((msd_err)i));
		cr_assert(has_line_that_begins(row), "%s", row);
	}
	cr_assert_eq(count_lines("\n## 11. ", "\n## 12. ", "| "), 1 + MSD_ERR_COUNT);
}

/* Append @text to @row as a table's code: with its pipes escaped. */
static void add_code(struct msd_buf *row, const char *text)
{
	msd_buf_put(row, "`", 1);
	for (; *text != '\0'; text++)
		msd_buf_printf(row, *text == '|' ? "\\%c" : "%c", *text);
	msd_buf_put(row, "` | ", 4);
}

Test(document, has_every_method)
{
	for (int i = 0; i < MSD_M_COUNT; i++) {
		const struct msd_method_row *m = msd_method_row((enum msd_method)i);
		struct msd_buf row = {0};
		char heading[64];

		msd_buf_printf(&row, "| `%s` | %c | %s | ", m->name, m->where,
			       msd_right_name(m->right));
		add_code(&row, m->params);
		add_code(&row, m->result);
		msd_buf_put(&row, "", 1);
		cr_assert(has_line_that_begins((const char *)row.p), "%s", row.p);
		(void)snprintf(heading, sizeof(heading), "### %s\n", m->name);
		cr_assert(has_line_that_begins(heading), "%s", heading);
		msd_buf_finish(&row);
	}
	cr_assert_eq(count_lines("\n## 8. ", "\n## 9. ", "| `"), MSD_M_COUNT);
	cr_assert_eq(count_lines("\n## 8. ", "\n## 9. ", "### "), MSD_M_COUNT);
}

static const struct {
	const char *name;
	unsigned long long value;
} limits[] = {
#define ROW(name)                                                                      \
	{                                                                              \
#name, name                                                            \
	}
	ROW(MSD_FRAME_HEADER_BYTES),
	ROW(MSD_MAX_BODY_BYTES),
	ROW(MSD_MAX_REPLY_BODY_BYTES),
	ROW(MSD_MAX_PAYLOAD_BYTES),
	ROW(MSD_MAX_DEPTH),
	ROW(MSD_MAX_OBJECTS),
	ROW(MSD_MAX_REPLY_OBJECTS),
	ROW(MSD_MAX_MAP_PAIRS),
	ROW(MSD_MAX_TENSORS),
	ROW(MSD_MAX_NDIM),
	ROW(MSD_MAX_NAME_BYTES),
	ROW(MSD_MAX_FUNC_NAME_BYTES),
	ROW(MSD_MAX_IN_FLIGHT),
	ROW(MSD_MAX_CLIENT_SEGMENTS),
	ROW(MSD_MAX_REPEATS),
	ROW(MSD_MAX_RESULTS_NAMED),
	ROW(MSD_MAX_RESULT_PATH),
	ROW(MSD_MAX_TYPE_KEY_BYTES),
	ROW(MSD_MAX_RESULT_BYTES),
	ROW(MSD_MAX_RESULTS_KEPT),
	ROW(MSD_TENSOR_ALIGN),
	ROW(MSD_PROTOCOL_VERSION),
#undef ROW
};
#define N_LIMITS (sizeof(limits) / sizeof(limits[0]))

Test(document, has_every_limit_with_its_value)
{
	char row[128];

	for (size_t i = 0; i < N_LIMITS; i++) {
		(void)snprintf(row, sizeof(row), "| `%s` | %llu | ", limits[i].name,
			       limits[i].value);
		cr_assert(has_line_that_begins(row), "%s", row);
	}
	cr_assert_eq(count_lines("\n## 4. ", "\n## 5. ", "| `MSD_"), N_LIMITS);
}

Test(document, every_limit_of_the_header_is_in_this_test)
{
	char *header = read_text(MSD_SOURCE_DIR "/proto/limits.h");
	char name[64];

	for (char *at = header; (at = strstr(at, "#define MSD_")) != NULL; at++) {
		bool found = false;

		cr_assert_eq(sscanf(at, "#define %63s", name), 1);
		for (size_t i = 0; i < N_LIMITS; i++)
			found |= strcmp(limits[i].name, name) == 0;
		cr_assert(found || strcmp(name, "MSD_PROTO_LIMITS_H") == 0 ||
				  strcmp(name, "MSD_MAGIC") == 0,
			  "%s", name);
	}
	free(header);
}

Test(document, has_every_ext_type)
{
	static const char *const names[] = {
		"tensor", "function", "module",    "instance", "upload", "dtype",
		"device", "shape",    "result_of", "object",   "map"};
	char row[64];

	for (int i = MSD_EXT_TENSOR; i <= MSD_EXT_MAP; i++) {
		(void)snprintf(row, sizeof(row), "| %d | %s | ", i, names[i - 1]);
		cr_assert(has_line_that_begins(row), "%s", row);
	}
}

/* The bytes of the dump @name; every line's offset must be right. */
static struct msd_buf dump(const char *name)
{
	char fence[64];
	struct msd_buf b = {0};

	(void)snprintf(fence, sizeof(fence), "```hexdump %s\n", name);
	const char *line = strstr(document, fence);
	cr_assert_not_null(line, "%s", fence);
	for (line += strlen(fence); strncmp(line, "```", 3) != 0;) {
		char *at;

		cr_assert_eq(strtoul(line, &at, 16), b.n, "%.60s", line);
		while (at[strspn(at, " ")] != ';' && at[strspn(at, " ")] != '\n')
			msd_buf_put_u8(&b, (uint8_t)strtoul(at, &at, 16));
		line = strchr(at, '\n');
		cr_assert_not_null(line);
		line++;
	}
	return b;
}

/* The whole frame around what is in @body, which is finished. */
static struct msd_buf frame_of(struct msd_buf *body, const float *payload,
			       size_t n_floats)
{
	uint8_t head[MSD_FRAME_HEADER_BYTES];
	size_t n = n_floats * sizeof(float);
	struct msd_buf b = {0};

	msd_frame_write((struct msd_frame){(uint32_t)body->n, n}, head);
	msd_buf_put(&b, head, sizeof(head));
	msd_buf_put(&b, body->p, body->n);
	for (size_t i = 0; i < n_floats; i++) {
		uint32_t bits;

		memcpy(&bits, &payload[i], sizeof(bits));
		msd_buf_put_u32(&b, bits);
	}
	msd_buf_finish(body);
	return b;
}

/* Compare and finish. */
static void expect_same(struct msd_buf written, struct msd_buf shown)
{
	cr_assert_not(written.bad || shown.bad);
	for (size_t i = 0; i < written.n && i < shown.n; i++)
		cr_assert_eq(written.p[i], shown.p[i], "byte %zu", i);
	cr_assert_eq(written.n, shown.n);
	msd_buf_finish(&written);
	msd_buf_finish(&shown);
}

static void pack_tensor(struct msd_buf *b, enum msd_where where)
{
	struct msd_wire_tensor t = {.where = where,
				    .dtype = {MSD_DT_FLOAT, 32, 1},
				    .bytes = 16,
				    .ndim = 1,
				    .shape = {4}};

	msd_pack_tensor(b, &t);
}

/* Header and body of the dump @name, read by the library; the dump stays in @ret_bytes.
 */
static struct msd_body read_dump(const char *name, struct msd_buf *ret_bytes)
{
	struct msd_diag d = {0};
	struct msd_frame f;
	struct msd_body body;

	*ret_bytes = dump(name);
	cr_assert_geq(ret_bytes->n, MSD_FRAME_HEADER_BYTES);
	cr_assert_eq(msd_frame_read(ret_bytes->p, MSD_MAX_BODY_BYTES,
				    MSD_MAX_PAYLOAD_BYTES, &f, &d),
		     MSD_OK);
	cr_assert_eq(MSD_FRAME_HEADER_BYTES + f.body_bytes + f.payload_bytes,
		     ret_bytes->n);
	struct msd_span bytes = {ret_bytes->p + MSD_FRAME_HEADER_BYTES, f.body_bytes};
	cr_assert_eq(msd_body_read(bytes, NULL, &body, &d), MSD_OK, "%s",
		     msd_diag_text(&d));
	return body;
}

Test(document, call_is_what_the_writers_produce)
{
	struct msd_buf b = {0};

	msd_body_begin_request(&b, 1, "call", false);
	msd_pack_array(&b, 3);
	msd_pack_cstr(&b, "add:addone");
	pack_tensor(&b, MSD_AT_INLINE);
	pack_tensor(&b, MSD_AT_OUT);
	expect_same(frame_of(&b, (float[]){1, 2, 3, 4}, 4), dump("call"));
}

Test(document, response_is_what_the_writers_produce)
{
	struct msd_buf b = {0};

	msd_body_begin_response(&b, 1, true);
	msd_pack_nil(&b);
	msd_pack_array(&b, 2);
	msd_pack_array(&b, 1);
	pack_tensor(&b, MSD_AT_INLINE);
	msd_pack_nil(&b);
	msd_pack_map(&b, 1);
	msd_pack_cstr(&b, "exec_ns");
	msd_pack_uint(&b, 1500);
	expect_same(frame_of(&b, (float[]){2, 3, 4, 5}, 4), dump("response"));
}

Test(document, error_is_what_the_writers_produce)
{
	struct msd_buf b = {0};

	msd_body_begin_response(&b, 1, false);
	msd_pack_error(&b, MSD_NOT_FOUND, "no module is called add");
	msd_pack_nil(&b);
	expect_same(frame_of(&b, NULL, 0), dump("error"));
}

Test(document, call_is_read_as_described)
{
	struct msd_buf bytes;
	struct msd_body body = read_dump("call", &bytes);
	struct msd_cur c;
	struct msd_wire_value v;
	struct msd_wire_tensor t;
	uint32_t n;

	cr_assert(body.kind == MSD_REQUEST && body.id == 1 && body.n_tensors == 2);
	cr_assert_eq(msd_method_find(body.method), MSD_M_CALL);
	cr_assert(msd_array_open(body.params, &c, &n));
	cr_assert_eq(msd_value_read(&c, &v, NULL), MSD_OK);
	cr_assert(msd_span_is(v.as.str, "add:addone"));
	for (int where = MSD_AT_INLINE; where <= MSD_AT_OUT; where += MSD_AT_OUT) {
		cr_assert_eq(msd_value_read(&c, &v, NULL), MSD_OK);
		cr_assert_eq(
			msd_wire_tensor_read(v.as.tensor.p, v.as.tensor.n, &t, NULL),
			MSD_OK);
		cr_assert_eq(t.where, where);
		cr_assert(t.bytes == 16 && t.ndim == 1 && t.shape[0] == 4);
	}
	cr_assert(msd_cur_end(&c));
	msd_buf_finish(&bytes);
}

Test(document, responses_are_read_as_described)
{
	struct msd_buf good, bad;
	struct msd_body body = read_dump("response", &good);
	struct msd_body_error e;

	cr_assert(body.kind == MSD_RESPONSE && body.id == 1 && body.n_tensors == 1);
	cr_assert_not(msd_body_error_read(body.error, &e));
	cr_assert_eq(body.meta.n, 12);
	body = read_dump("error", &bad);
	cr_assert(msd_body_error_read(body.error, &e));
	cr_assert_eq(e.code, MSD_NOT_FOUND);
	cr_assert(msd_span_is(e.message, "no module is called add"));
	msd_buf_finish(&good);
	msd_buf_finish(&bad);
}
