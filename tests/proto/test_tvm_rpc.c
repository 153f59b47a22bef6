#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "proto/tvm_rpc/hello.h"
#include "proto/tvm_rpc/packet.h"
#include "tests/proto/tvm_rpc_session.h"
#include "tests/support/fail_alloc.h"

#define MOST_VALUES 16u
#define LINE_BYTES (1u << 16)

struct packet {
	uint8_t p[LINE_BYTES];
	size_t n;
};

static void from_hex(const char *hex, struct packet *ret)
{
	char two[3] = {0};

	for (ret->n = 0; hex[0] != 0 && hex[0] != '\n'; hex += 2) {
		cr_assert_lt(ret->n, sizeof(ret->p));
		two[0] = hex[0];
		two[1] = hex[1];
		ret->p[ret->n++] = (uint8_t)strtoul(two, NULL, 16);
	}
}

/* Read the packet to its last byte, and write what was read. */
static void go_round(enum msd_rpc_era era, const struct packet *in, struct msd_buf *out)
{
	const struct msd_span body = {in->p + MSD_RPC_SIZE_BYTES,
				      in->n - MSD_RPC_SIZE_BYTES};
	struct msd_rpc_value values[MOST_VALUES];
	struct msd_rpc_packet p;
	struct msd_rpc_seq seq;
	struct msd_diag d = {0};
	uint32_t n = 0;

	cr_assert_eq(msd_le64(in->p), body.n);
	cr_assert_eq(msd_rpc_packet_read(body, body.n, &p, &d), MSD_OK, "%s",
		     msd_diag_text(&d));
	if (p.seq.n > 0) {
		cr_assert_eq(msd_rpc_seq_begin(&seq, era, p.seq, &d), MSD_OK);
		while (seq.n > 0) {
			cr_assert_lt(n, MOST_VALUES);
			cr_assert_eq(msd_rpc_seq_next(&seq, &values[n++], &d), MSD_OK,
				     "%s", msd_diag_text(&d));
		}
		cr_assert_eq(msd_rpc_seq_end(&seq, &d), MSD_OK);
	}
	msd_rpc_packet_write(out, &p, era, values, n);
	cr_assert_not(out->bad);
}

static void expect_round(enum msd_rpc_era era, const struct packet *in)
{
	struct msd_buf out = {0};

	go_round(era, in, &out);
	cr_expect_eq(out.n, in->n);
	cr_expect_eq(memcmp(out.p, in->p, in->n), 0);
	msd_buf_finish(&out);
}

static void expect_session(enum msd_rpc_era era, const char *const *lines)
{
	for (; *lines != NULL; lines++) {
		struct packet in;

		from_hex(*lines + 1, &in);
		expect_round(era, &in);
	}
}

Test(tvm_rpc, packets_of_tvm_0_27_are_written_as_they_were_read)
{
	expect_session(MSD_RPC_FFI, tvm_rpc_ffi);
}

Test(tvm_rpc, packets_of_tvm_0_19_are_written_as_they_were_read)
{
	expect_session(MSD_RPC_CLASSIC, tvm_rpc_classic);
}

/* All lines of a recorded session, of which each has one packet or a hello. */
static void expect_transcript(const char *name, enum msd_rpc_era era)
{
	static char line[2 * LINE_BYTES];
	char path[512];

	(void)snprintf(path, sizeof(path),
		       MSD_SOURCE_DIR "/../shared/rpc/transcripts/%s.txt", name);
	FILE *f = fopen(path, "r");
	if (f == NULL)
		cr_skip_test("no %s", path);
	unsigned n = 0;
	while (fgets(line, sizeof(line), f) != NULL) {
		const char *hex = strchr(line, ' ');
		struct packet in;

		cr_assert_not_null(hex);
		if (strncmp(hex, " end", 4) == 0)
			continue;
		from_hex(hex + 1, &in);
		if (in.n >= MSD_RPC_SIZE_BYTES &&
		    msd_le64(in.p) == in.n - MSD_RPC_SIZE_BYTES) {
			expect_round(era, &in);
			n++;
		}
	}
	(void)fclose(f);
	cr_expect_gt(n, 0);
}

Test(tvm_rpc, whole_transcript_of_0_27)
{
	expect_transcript("ffi-0.27", MSD_RPC_FFI);
}

Test(tvm_rpc, whole_transcript_of_0_26)
{
	expect_transcript("ffi-0.26", MSD_RPC_FFI);
}

Test(tvm_rpc, whole_transcript_of_0_25)
{
	expect_transcript("ffi-0.25", MSD_RPC_FFI);
}

Test(tvm_rpc, whole_transcript_of_0_21)
{
	expect_transcript("ffi-0.21", MSD_RPC_FFI);
}

Test(tvm_rpc, whole_transcript_of_0_19)
{
	expect_transcript("classic-0.19", MSD_RPC_CLASSIC);
}

Test(tvm_rpc, whole_transcript_of_errors)
{
	expect_transcript("errors-0.27", MSD_RPC_FFI);
}

static void expect_era(const char *const *lines, enum msd_rpc_era expected,
		       enum msd_rpc_code code)
{
	for (; *lines != NULL; lines++) {
		struct msd_rpc_packet p;
		struct packet in;
		enum msd_rpc_era era;

		from_hex(*lines + 1, &in);
		const struct msd_span body = {in.p + MSD_RPC_SIZE_BYTES,
					      in.n - MSD_RPC_SIZE_BYTES};
		cr_assert_eq(msd_rpc_packet_read(body, body.n, &p, NULL), MSD_OK);
		if (**lines != '>' || p.code != code)
			continue;
		cr_assert_eq(msd_rpc_packet_era(&p, &era, NULL), MSD_OK);
		cr_expect_eq(era, expected, "%s", *lines);
	}
}

Test(tvm_rpc, the_first_packet_with_values_tells_the_era)
{
	static const enum msd_rpc_code firsts[] = {MSD_RPC_GET_GLOBAL, MSD_RPC_GET_ATTR,
						   MSD_RPC_ALLOC_WITH_SCOPE};

	for (size_t i = 0; i < sizeof(firsts) / sizeof(*firsts); i++) {
		expect_era(tvm_rpc_ffi, MSD_RPC_FFI, firsts[i]);
		expect_era(tvm_rpc_classic, MSD_RPC_CLASSIC, firsts[i]);
	}
}

Test(tvm_rpc, every_prefix_of_a_packet_is_refused)
{
	for (size_t i = 0; tvm_rpc_ffi[i] != NULL; i++) {
		struct packet in;

		from_hex(tvm_rpc_ffi[i] + 1, &in);
		for (size_t n = 0; n + 1 < in.n - MSD_RPC_SIZE_BYTES; n++) {
			struct msd_rpc_packet p;
			uint8_t *body =
				malloc(n + 1); /* so that a read past it shows */

			memcpy(body, in.p + MSD_RPC_SIZE_BYTES, n);
			msd_err err = msd_rpc_packet_read((struct msd_span){body, n}, n,
							  &p, NULL);
			if (err == MSD_OK && p.code != MSD_RPC_COPY_ACK)
				err = msd_rpc_seq_check(MSD_RPC_FFI, p.seq, NULL);
			cr_expect(err != MSD_OK || p.code == MSD_RPC_COPY_ACK,
				  "%zu bytes of %s", n, tvm_rpc_ffi[i]);
			free(body);
		}
	}
}

static msd_err read_hex(const char *hex, struct msd_rpc_packet *ret)
{
	static struct packet in;

	from_hex(hex, &in);
	return msd_rpc_packet_read((struct msd_span){in.p, in.n}, in.n, ret, NULL);
}

Test(tvm_rpc, codes_that_tvm_lacks_are_refused)
{
	struct msd_rpc_packet p;

	cr_expect_eq(read_hex("00000000", &p), MSD_BAD_REQUEST);
	cr_expect_eq(read_hex("16000000", &p), MSD_BAD_REQUEST);
	cr_expect_eq(read_hex("ffffffff", &p), MSD_BAD_REQUEST);
	cr_expect_eq(read_hex("01000000", &p), MSD_OK);
}

#define HEAD "0700000001000000000000000100000000000000" /* code 7, data 1, cpu:0 */

#define FLOAT32 "02200100"
#define ZERO "0000000000000000"

static void expect_refused(const char *fields, const char *why)
{
	struct msd_rpc_packet p;
	char hex[512];

	(void)snprintf(hex, sizeof(hex), HEAD "%s", fields);
	cr_expect_eq(read_hex(hex, &p), MSD_BAD_REQUEST, "%s", why);
}

Test(tvm_rpc, tensors_with_impossible_shapes_are_refused)
{
	expect_refused("21000000" FLOAT32, "33 dimensions");
	expect_refused("ffffffff" FLOAT32, "-1 dimensions");
	expect_refused("01000000" FLOAT32 "ffffffffffffffff" ZERO ZERO,
		       "a negative extent");
	expect_refused("02000000" FLOAT32 "ffffffffffffff7f"
		       "ffffffffffffff7f" ZERO ZERO,
		       "extents that overflow");
}

Test(tvm_rpc, copies_of_another_size_than_their_packet_are_refused)
{
	struct msd_rpc_packet p;

	cr_assert_eq(read_hex(HEAD "00000000" FLOAT32 ZERO "0400000000000000"
				   "01020304",
			      &p),
		     MSD_OK);
	cr_expect_eq(p.tensor.bytes, 4);
	cr_expect_eq(p.data.n, 4);
	expect_refused("00000000" FLOAT32 ZERO "0500000000000000"
		       "01020304",
		       "5 bytes in a packet for 4");
}

Test(tvm_rpc, a_copy_is_read_before_its_data_has_come)
{
	struct msd_rpc_packet p;
	static struct packet in;

	from_hex(HEAD "00000000"
		      "02200100"
		      "0000000000000000"
		      "0400000000000000"
		      "01",
		 &in);
	cr_assert_eq(
		msd_rpc_packet_read((struct msd_span){in.p, in.n}, in.n + 3, &p, NULL),
		MSD_OK);
	cr_expect_eq(p.data.n, 1);
	cr_expect_eq(p.n_bytes, 4);
}

Test(tvm_rpc, sequences_have_at_most_so_many_values)
{
	struct msd_rpc_seq s;
	const uint8_t many[] = {1, 16, 0, 0}, negative[] = {255, 255, 255, 255};

	cr_expect_eq(msd_rpc_seq_begin(&s, MSD_RPC_FFI,
				       (struct msd_span){many, sizeof(many)}, NULL),
		     MSD_BAD_REQUEST);
	cr_expect_eq(msd_rpc_seq_begin(&s, MSD_RPC_CLASSIC,
				       (struct msd_span){negative, sizeof(negative)},
				       NULL),
		     MSD_BAD_REQUEST);
}

static msd_err read_hello(const char *text, struct msd_rpc_hello *ret)
{
	static struct msd_buf b;
	size_t used;

	msd_buf_finish(&b);
	msd_buf_put_u32(&b, MSD_RPC_MAGIC);
	msd_buf_put_u32(&b, (uint32_t)strlen(text));
	msd_buf_put(&b, text, strlen(text));
	for (size_t n = 0; n < b.n; n++) {
		cr_expect_eq(
			msd_rpc_hello_read((struct msd_span){b.p, n}, ret, &used, NULL),
			MSD_WAIT, "a prefix");
	}
	const msd_err err =
		msd_rpc_hello_read((struct msd_span){b.p, b.n}, ret, &used, NULL);
	if (err == MSD_OK)
		cr_expect_eq(used, b.n);
	return err;
}

Test(tvm_rpc, a_hello_has_a_key_and_perhaps_a_timeout)
{
	struct msd_rpc_hello h;

	cr_assert_eq(read_hello("client:", &h), MSD_OK);
	cr_expect_eq(h.key.n, 0);
	cr_expect_eq(h.timeout_ms, 0);
	cr_assert_eq(read_hello("client:rasp:0.437 -timeout=0.5", &h), MSD_OK);
	cr_expect(msd_span_is(h.key, "rasp:0.437"));
	cr_expect_eq(h.timeout_ms, 500);
	cr_assert_eq(read_hello("client: -timeout=60", &h), MSD_OK);
	cr_expect_eq(h.key.n, 0);
	cr_expect_eq(h.timeout_ms, 60000);
	cr_expect_eq(read_hello("client:k -timeout=nan", &h), MSD_PROTOCOL);
	cr_expect_eq(read_hello("client:k -timeout=-1", &h), MSD_PROTOCOL);
	cr_expect_eq(read_hello("client:k -timeout=", &h), MSD_PROTOCOL);
	cr_expect_eq(read_hello("server:k", &h), MSD_PROTOCOL);
}

Test(tvm_rpc, a_hello_with_another_magic_or_length_is_refused)
{
	struct msd_rpc_hello h;
	size_t used;
	static const uint8_t other[] = {0x16, 3, 1, 2},
			     negative[] = {0x71, 0xf2, 0x0f, 0, 255, 255, 255, 255},
			     large[] = {0x71, 0xf2, 0x0f, 0, 0, 0, 16, 0};

	cr_expect_eq(msd_rpc_hello_read((struct msd_span){other, sizeof(other)}, &h,
					&used, NULL),
		     MSD_PROTOCOL);
	cr_expect_eq(msd_rpc_hello_read((struct msd_span){negative, sizeof(negative)},
					&h, &used, NULL),
		     MSD_PROTOCOL);
	cr_expect_eq(msd_rpc_hello_read((struct msd_span){large, sizeof(large)}, &h,
					&used, NULL),
		     MSD_PROTOCOL);
}

Test(tvm_rpc, a_server_answers_with_its_key_or_a_refusal)
{
	static const uint8_t accepted[] = {0x71, 0xf2, 0x0f, 0,   8,   0,   0,   0,
					   's',  'e',  'r',  'v', 'e', 'r', ':', 'k'};
	struct msd_buf out = {0};

	msd_rpc_hello_accept(&out, msd_span_of("k"));
	cr_assert_eq(out.n, sizeof(accepted));
	cr_expect_eq(memcmp(out.p, accepted, out.n), 0);
	msd_buf_finish(&out);
	msd_rpc_hello_refuse(&out);
	cr_expect_eq(out.n, 4);
	cr_expect_eq(msd_le32(out.p), 0x000ff273);
	msd_buf_finish(&out);
}

Test(tvm_rpc, messages_of_a_tracker_are_framed_and_bounded)
{
	static const uint8_t large[] = {1, 0, 16, 0};
	struct msd_buf out = {0};
	struct msd_span json;
	size_t used;

	msd_rpc_tracker_write(&out, msd_span_of("[7]"));
	for (size_t n = 0; n < out.n; n++) {
		cr_expect_eq(msd_rpc_tracker_read((struct msd_span){out.p, n}, &json,
						  &used, NULL),
			     MSD_WAIT);
	}
	cr_assert_eq(msd_rpc_tracker_read((struct msd_span){out.p, out.n}, &json, &used,
					  NULL),
		     MSD_OK);
	cr_expect(msd_span_is(json, "[7]"));
	cr_expect_eq(used, out.n);
	cr_expect_eq(msd_rpc_tracker_read((struct msd_span){large, sizeof(large)},
					  &json, &used, NULL),
		     MSD_PROTOCOL);
	msd_buf_finish(&out);
}

Test(tvm_rpc, a_packet_that_finds_no_memory_is_marked)
{
	struct msd_rpc_packet p = {.code = MSD_RPC_RETURN};
	const struct msd_rpc_value v = {.kind = MSD_RPC_TEXT,
					.as.bytes = msd_span_of("x")};
	struct msd_buf out = {0};

	msd_fail_alloc(0);
	msd_rpc_packet_write(&out, &p, MSD_RPC_FFI, &v, 1);
	cr_expect(msd_fail_alloc_stop());
	cr_expect(out.bad);
	msd_buf_finish(&out);
}
