#include "tests/fuzz/session_worker.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/segments/segpool.h"
#include "proto/body.h"
#include "proto/value.h"
#include "tests/fuzz/fuzz.h"

/* What worker.open, call, tensor.alloc and module.instance are answered with. */
static void put_result(struct msd_buf *b, uint8_t byte, struct msd_cur *input)
{
	const struct msd_wire_tensor there = {
		.where = MSD_AT_RESIDENT,
		.dtype = {.code = 2, .bits = 32, .lanes = 1},
		.handle = {byte % 4, 1},
		.bytes = byte,
		.ndim = 1,
		.shape = {byte / 4}};
	switch (byte % 8) {
	case 0:
	case 1:
		msd_pack_map(b, 1);
		msd_pack_cstr(b, "functions");
		msd_pack_array(b, 1);
		msd_pack_map(b, 1);
		msd_pack_cstr(b, "name");
		msd_pack_cstr(b, "f");
		break;
	case 2:
	case 3:
	case 4:
		msd_pack_array(b, 2);
		msd_pack_array(b, byte % 8 == 2 ? 0 : 1);
		if (byte % 8 != 2) {
			struct msd_wire_tensor t = there;
			t.where = MSD_AT_SEGMENT;
			t.offset = 128u * (byte / 8);
			t.segment = byte % 8 == 4 ? MSD_FIRST_LENT + byte / 64 : 0;
			t.bytes = 64u * msd_cur_u8(input);
			t.shape[0] = (int64_t)t.bytes / 4;
			msd_pack_tensor(b, &t);
		}
		msd_pack_nil(b);
		break;
	case 5:
		msd_pack_tensor(b, &there);
		break;
	case 6:
		msd_pack_handle(b, MSD_EXT_INSTANCE, there.handle);
		break;
	default:
		msd_pack_nil(b);
	}
}

static void answer(struct fake *f, uint8_t byte, struct msd_cur *input)
{
	struct msd_buf b = {0};
	const uint8_t what = msd_cur_u8(input);

	if (f->n_open == 0)
		return;
	msd_body_begin_response(&b, fake_take(f, what / 128 * byte), false);
	if (what % 8 == 7) {
		msd_pack_error(&b, (msd_err)(1 + byte % (MSD_ERR_COUNT - 1)), "no");
		msd_pack_nil(&b);
	} else {
		msd_pack_nil(&b);
		put_result(&b, what, input);
	}
	fake_send(f, b.p, b.n, -1);
	msd_buf_finish(&b);
}

static void announce(struct fake *f, uint8_t byte)
{
	struct msd_buf b = {0};
	const uint64_t bytes = 4096u << byte % 4;
	const int fd = memfd_create("out", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	MUST(fd >= 0 && posix_fallocate(fd, 0, (off_t)bytes) == 0);
	MUST(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0);
	msd_body_begin_notification(&b, "worker.segment");
	msd_pack_array(&b, 3);
	msd_pack_cstr(&b, "out");
	msd_pack_uint(&b, byte / 128);
	msd_pack_uint(&b, bytes);
	fake_send(f, b.p, b.n, fd);
	msd_buf_finish(&b);
	(void)close(fd);
}

void session_worker_does(struct fake *f, uint8_t op, uint8_t byte,
			 struct msd_cur *input)
{
	const size_t n = byte < input->left ? byte : input->left;

	switch (op % 8) {
	case 0:
		fake_exit(f);
		break;
	case 1:
		fake_send(f, msd_cur_read(input, n), n, -1);
		break;
	case 2:
		announce(f, byte);
		break;
	default:
		answer(f, byte, input);
	}
}
