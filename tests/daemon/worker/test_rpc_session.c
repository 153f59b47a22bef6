/* A session of TVM's RPC in this process: its table, and memory that runs out. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/rpc_session/table.h"
#include "daemon/rpc_session/tar.h"
#include "tests/fuzz/rpc_world.h"
#include "tests/support/fail_alloc.h"

static struct msd_rpc_tensor bytes_of(uint64_t array, uint64_t offset)
{
	return (struct msd_rpc_tensor){
		.data = array, .device = {MSD_DEV_CPU, 0}, .byte_offset = offset};
}

Test(rpc_session, a_handle_is_never_given_again)
{
	const struct msd_rpc_object o = {.kind = MSD_RPC_IS_BUILTIN};
	struct msd_rpc_table t = {0};
	uint64_t first, next = 0;

	cr_assert_eq(msd_rpc_table_add(&t, &o, &first, NULL), MSD_OK);
	for (int i = 0; i < 1000; i++) {
		struct msd_rpc_object *found = msd_rpc_table_find(&t, first);
		cr_assert_not_null(found);
		msd_rpc_table_remove(&t, found);
		cr_expect_null(msd_rpc_table_find(&t, first));
		cr_assert_eq(msd_rpc_table_add(&t, &o, &next, NULL), MSD_OK);
		cr_expect_neq(next, first);
		cr_expect_neq(next, 0);
		first = next;
	}
	msd_rpc_table_finish(&t);
}

Test(rpc_session, an_array_is_reached_within_its_bytes_only)
{
	uint8_t data[64];
	const struct msd_rpc_object o = {
		.kind = MSD_RPC_IS_ARRAY, .data = data, .bytes = sizeof(data)};
	struct msd_rpc_table t = {0};
	struct msd_rpc_tensor x;
	struct msd_rpc_place at;
	uint64_t array;

	cr_assert_eq(msd_rpc_table_add(&t, &o, &array, NULL), MSD_OK);
	for (uint64_t offset = 0; offset <= 64; offset++) {
		x = bytes_of(array, offset);
		cr_assert_eq(msd_rpc_table_reach(&t, &x, 64 - offset, &at, NULL),
			     MSD_OK);
		cr_expect_eq(at.data, data + offset);
		cr_expect_neq(msd_rpc_table_reach(&t, &x, 65 - offset, &at, NULL),
			      MSD_OK);
		cr_expect_neq(msd_rpc_table_reach(&t, &x, UINT64_MAX, &at, NULL),
			      MSD_OK);
	}
	x = bytes_of(array, UINT64_MAX);
	cr_expect_neq(msd_rpc_table_reach(&t, &x, 1, &at, NULL), MSD_OK);
	x = bytes_of(array, 0);
	x.device = (struct msd_device){MSD_DEV_OPENCL, 0};
	cr_expect_neq(msd_rpc_table_reach(&t, &x, 1, &at, NULL), MSD_OK);
	x = bytes_of(array + 1, 0);
	cr_expect_neq(msd_rpc_table_reach(&t, &x, 1, &at, NULL), MSD_OK);
	msd_rpc_table_finish(&t);
}

/* testing.echo(a text), tvm.rpc.server.upload(name, bytes), an array. */
static size_t write_session(uint8_t *to)
{
	static const char *const packets[] = {
		"\x20\0\0\0\0\0\0\0\x09\0\0\0\x01\0\0\0\x08\0\0\0\x0c\0\0\0\0\0\0\0test"
		"ing"
		".echo",
		"\x2a\0\0\0\0\0\0\0\x09\0\0\0\x01\0\0\0\x08\0\0\0\x16\0\0\0\0\0\0\0tvm."
		"rpc"
		".server.upload",
		"\x2d\0\0\0\0\0\0\0\x03\0\0\0\0\0\x10\0\0\0\0\0\x01\0\0\0\x08\0\0\0\x11"
		"\0\0"
		"\0\0\0\0\0longer than seven",
		"\x3a\0\0\0\0\0\0\0\x03\0\0\0\x01\0\x10\0\0\0\0\0\x02\0\0\0\x08\0\0\0"
		"\x01\0"
		"\0\0\0\0\0\0a\x08\0\0\0\x11\0\0\0\0\0\0\0longer than seven"};
	size_t n = 0;

	for (size_t i = 0; i < sizeof(packets) / sizeof(packets[0]); i++) {
		const size_t bytes = 8 + (uint8_t)packets[i][0];
		memcpy(to + n, packets[i], bytes);
		n += bytes;
	}
	return n;
}

/* Return the number of packets; each must be whole. */
static int count_packets(const uint8_t *p, size_t n)
{
	int ret = 0;

	for (; n > 0; ret++) {
		cr_assert_geq(n, 8);
		const uint64_t bytes = 8 + msd_le64(p);
		cr_assert_leq(bytes, n);
		p += bytes;
		n -= bytes;
	}
	return ret;
}

/* A failed allocation is an exception, or ends the session. */
Test(rpc_session, memory_that_runs_out_is_an_exception)
{
	uint8_t in[512], whole[4096], out[4096];
	struct msd_rpc_page page = {0};
	const size_t n = write_session(in);
	const size_t n_whole = rpc_world_serve(in, n, whole, sizeof(whole), &page);
	int n_told = 0;
	long k = 0;

	cr_assert_eq(page.in_bytes, n);
	cr_assert_eq(count_packets(whole, n_whole), 4);
	for (;; k++) {
		page = (struct msd_rpc_page){0};
		msd_fail_alloc(k);
		const size_t got = rpc_world_serve(in, n, out, sizeof(out), &page);
		if (!msd_fail_alloc_stop())
			break;
		const int n_packets = count_packets(out, got);
		cr_expect_leq(n_packets, 4);
		n_told += n_packets == 4 &&
			  (got != n_whole || memcmp(out, whole, got) != 0);
	}
	cr_expect_gt(n_told, 0);
	cr_expect_gt(k, 3);
}

/* Two files, the first with 3 bytes. */
static size_t write_tar(uint8_t *to)
{
	memset(to, 0, 5 * 512);
	for (int i = 0; i < 2; i++) {
		uint8_t *head = to + i * 1024;
		memcpy(head, "name", 4);
		memcpy(head + 124, i == 0 ? "00000000003" : "00000001000", 11);
		head[156] = '0';
		memcpy(head + 257, "ustar", 5);
		memset(head + 512, 'a' + i, i == 0 ? 3 : 512);
	}
	return 5 * 512;
}

Test(rpc_session, a_tar_archive_is_read_or_refused_at_every_length)
{
	uint8_t *whole = malloc(5 * 512);
	const size_t n = write_tar(whole);

	for (size_t cut = 0; cut <= n; cut++) {
		uint8_t *copy = malloc(cut > 0 ? cut : 1); /* for the sanitizer */
		memcpy(copy, whole, cut);
		struct msd_span at = {copy, cut}, file;
		msd_err err = msd_rpc_tar_next(&at, &file, NULL);
		cr_expect_eq(err == MSD_OK && file.p != NULL, cut >= 515, "%zu", cut);
		if (err == MSD_OK && file.p != NULL) {
			cr_expect_eq(file.n, 3);
			err = msd_rpc_tar_next(&at, &file, NULL);
			cr_expect_eq(err == MSD_OK && file.n == 512, cut >= 2048, "%zu",
				     cut);
		}
		free(copy);
	}
	free(whole);
}
