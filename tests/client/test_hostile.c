/* A daemon that lies: each lie ends the connection with MODSER_PROTOCOL and nothing
 * else. */
#include <criterion/criterion.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proto/body.h"
#include "proto/frame.h"
#include "proto/value.h"
#include "tests/client/peer.h"

static const modser_dtype float32 = {MSD_DT_FLOAT, 32, 1};
static const int64_t three = 3;

/* Send @frame as the answer to a call with one output of float32[3]. */
static modser_err answer_with(const struct msd_buf *frame)
{
	struct peer p = peer_open();
	float y[3];
	modser_value out = modser_out_arg(float32, &three, 1, y);
	modser_result *r;

	peer_write(&p, frame->p, frame->n);
	(void)shutdown(p.fd, SHUT_WR); /* and then silence */
	modser_err err = modser_call(p.client, "m:f", &out, 1, NULL, &r);
	modser_result_free(r);
	peer_close(&p);
	return err;
}

static modser_err answer_body(struct msd_buf *body, uint64_t payload_bytes)
{
	static const uint8_t payload[1024];
	struct msd_buf frame = {0};

	peer_frame(&frame, body, payload, payload_bytes);
	modser_err err = answer_with(&frame);
	msd_buf_finish(&frame);
	msd_buf_finish(body);
	return err;
}

/* [[outs...], nil] */
static modser_err answer_tensors(const struct msd_wire_tensor *t, size_t n,
				 uint64_t payload_bytes)
{
	struct msd_buf body = {0};

	peer_begin(&body, 1);
	msd_pack_array(&body, 2);
	msd_pack_array(&body, n);
	for (size_t i = 0; i < n; i++)
		msd_pack_tensor(&body, &t[i]);
	msd_pack_nil(&body);
	return answer_body(&body, payload_bytes);
}

static struct msd_wire_tensor tensor_at(uint64_t offset)
{
	return (struct msd_wire_tensor){.where = MSD_AT_INLINE,
					.dtype = {MSD_DT_FLOAT, 32, 1},
					.offset = offset,
					.bytes = 12,
					.ndim = 1,
					.shape = {3}};
}

Test(hostile, the_honest_answer_is_taken)
{
	struct msd_wire_tensor t = tensor_at(0);

	cr_assert_eq(answer_tensors(&t, 1, 12), MODSER_OK);
}

Test(hostile, a_tensor_without_elements_may_say_that_it_is_anywhere)
{
	struct msd_wire_tensor t[] = {tensor_at(0), tensor_at(0), tensor_at(128)};
	struct msd_buf body = {0};

	t[0].shape[0] = t[2].shape[0] = 0;
	t[0].bytes = t[2].bytes = 0;
	t[2].offset = UINT64_MAX - 127;
	peer_begin(&body, 1);
	msd_pack_array(&body, 2);
	msd_pack_array(&body, 1);
	msd_pack_tensor(&body, &t[1]);
	msd_pack_array(&body, 2);
	msd_pack_tensor(&body, &t[0]);
	msd_pack_tensor(&body, &t[2]);
	cr_assert_eq(answer_body(&body, 12), MODSER_OK);
}

Test(hostile, a_tensor_beyond_the_payload)
{
	struct msd_wire_tensor t = tensor_at(0);

	cr_expect_eq(answer_tensors(&t, 1, 11), MODSER_PROTOCOL);
	t = tensor_at(128);
	cr_expect_eq(answer_tensors(&t, 1, 139), MODSER_PROTOCOL);
	t = tensor_at(UINT64_MAX - 127);
	cr_expect_eq(answer_tensors(&t, 1, 12), MODSER_PROTOCOL);
}

Test(hostile, a_tensor_in_memory_that_was_not_lent)
{
	struct msd_wire_tensor t[] = {tensor_at(0), tensor_at(0)};
	struct msd_buf body = {0};

	t[0].where = t[1].where = MSD_AT_SEGMENT;
	t[0].segment = 1;
	cr_expect_eq(answer_tensors(t, 1, 0), MODSER_PROTOCOL);
	cr_expect_eq(answer_tensors(t + 1, 1, 0), MODSER_PROTOCOL, "no number is 0");
	t[1] = tensor_at(0);
	peer_begin(&body, 1); /* beside the output that was asked for */
	msd_pack_array(&body, 2);
	msd_pack_array(&body, 1);
	msd_pack_tensor(&body, &t[1]);
	msd_pack_tensor(&body, &t[0]);
	cr_expect_eq(answer_body(&body, 12), MODSER_PROTOCOL);
}

Test(hostile, an_output_of_another_shape_or_dtype)
{
	struct msd_wire_tensor t = tensor_at(0);

	t.shape[0] = 4;
	t.bytes = 16;
	cr_expect_eq(answer_tensors(&t, 1, 16), MODSER_PROTOCOL);
	t = tensor_at(0);
	t.dtype.code = MSD_DT_INT;
	cr_expect_eq(answer_tensors(&t, 1, 12), MODSER_PROTOCOL);
}

Test(hostile, more_outputs_or_fewer_than_asked_for)
{
	struct msd_wire_tensor t[2] = {tensor_at(0), tensor_at(128)};

	cr_expect_eq(answer_tensors(t, 0, 0), MODSER_PROTOCOL);
	cr_expect_eq(answer_tensors(t, 2, 140), MODSER_PROTOCOL);
}

Test(hostile, tensors_that_share_bytes)
{
	struct msd_wire_tensor t = tensor_at(0);
	struct msd_buf body = {0};

	peer_begin(&body, 1);
	msd_pack_array(&body, 2);
	msd_pack_array(&body, 1);
	msd_pack_tensor(&body, &t);
	msd_pack_tensor(&body, &t);
	cr_assert_eq(answer_body(&body, 140), MODSER_PROTOCOL);
}

Test(hostile, a_segment_that_nobody_shared)
{
	struct msd_wire_tensor t = tensor_at(0);

	t.where = MSD_AT_SEGMENT;
	cr_assert_eq(answer_tensors(&t, 1, 12), MODSER_PROTOCOL);
}

Test(hostile, an_answer_to_nobody)
{
	struct msd_buf body = {0};

	peer_begin(&body, 77);
	msd_pack_nil(&body);
	cr_assert_eq(answer_body(&body, 0), MODSER_PROTOCOL);
}

Test(hostile, an_answer_that_is_a_request)
{
	struct msd_buf body = {0};

	msd_body_begin_request(&body, 1, "ping", false);
	msd_pack_array(&body, 0);
	cr_assert_eq(answer_body(&body, 0), MODSER_PROTOCOL);
}

Test(hostile, a_second_answer_to_the_same_request)
{
	struct peer p = peer_open();
	modser_result *r;

	peer_answer(&p, 1, 1);
	cr_assert_eq(modser_request(p.client, "ping", NULL, 0, NULL, &r), MODSER_OK);
	modser_result_free(r);
	peer_answer(&p, 1, 1);
	cr_expect_eq(modser_process(p.client), MODSER_PROTOCOL);
	cr_expect_eq(modser_fd(p.client), -1);
	peer_close(&p);
}

Test(hostile, headers_that_are_none_or_too_large)
{
	static const char http[] = "HTTP/1.1 400 Bad Request\r\n";
	struct msd_buf frame = {0};
	uint8_t header[MSD_FRAME_HEADER_BYTES];

	msd_buf_put(&frame, http, sizeof(http));
	cr_expect_eq(answer_with(&frame), MODSER_PROTOCOL);
	msd_buf_finish(&frame);
	msd_frame_write((struct msd_frame){UINT32_MAX, 0}, header);
	msd_buf_put(&frame, header, sizeof(header));
	cr_expect_eq(answer_with(&frame), MODSER_TOO_LARGE);
	msd_buf_finish(&frame);
	msd_frame_write((struct msd_frame){1, UINT64_MAX}, header);
	msd_buf_put(&frame, header, sizeof(header));
	cr_expect_eq(answer_with(&frame), MODSER_TOO_LARGE);
	msd_buf_finish(&frame);
}

Test(hostile, any_flipped_bit_of_an_answer_is_a_value_or_an_error_of_the_wire)
{
	struct msd_wire_tensor t = tensor_at(0);
	struct msd_buf body = {0}, frame = {0};

	peer_begin(&body, 1);
	msd_pack_array(&body, 2);
	msd_pack_array(&body, 1);
	msd_pack_tensor(&body, &t);
	msd_pack_cstr(&body, "text");
	peer_frame(&frame, &body, "123456789012", 12);
	for (size_t bit = 0; bit < 8 * frame.n; bit++) {
		frame.p[bit / 8] ^= (uint8_t)(1u << bit % 8);
		modser_err err = answer_with(&frame);
		cr_expect(err == MODSER_OK || err == MODSER_PROTOCOL ||
				  err == MODSER_TOO_LARGE || err == MODSER_IO,
			  "bit %zu: %d", bit, (int)err);
		frame.p[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	msd_buf_finish(&body);
	msd_buf_finish(&frame);
}

#define MOST_PASSED 3u

/* As much of an answer as @frame has, with @n of @fds beside its first byte. */
static void pass(const struct peer *p, const struct msd_buf *frame, const int *fds,
		 size_t n)
{
	union {
		char room[CMSG_SPACE(MOST_PASSED * sizeof(int))];
		struct cmsghdr align;
	} control = {{0}};
	struct iovec piece = {frame->p, frame->n};
	struct msghdr m = {.msg_iov = &piece,
			   .msg_iovlen = 1,
			   .msg_control = control.room,
			   .msg_controllen = CMSG_SPACE(n * sizeof(int))};
	struct cmsghdr *h = CMSG_FIRSTHDR(&m);

	h->cmsg_level = SOL_SOCKET;
	h->cmsg_type = SCM_RIGHTS;
	h->cmsg_len = CMSG_LEN(n * sizeof(int));
	memcpy(CMSG_DATA(h), fds, n * sizeof(int));
	cr_assert_eq(sendmsg(p->fd, &m, MSG_NOSIGNAL), (ssize_t)frame->n);
}

/* Open a channel, whose answer comes with @n sockets, and close it; the sockets' other
 * ends are @others. */
static void open_with(size_t n, int others[MOST_PASSED])
{
	struct peer p = peer_open();
	struct msd_buf body = {0}, frame = {0};
	modser_client *channel = NULL;
	int fds[MOST_PASSED];

	peer_begin(&body, 1);
	msd_pack_map(&body, 0);
	peer_frame(&frame, &body, NULL, 0);
	for (size_t i = 0; i < n; i++) {
		int ends[2];
		cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
		fds[i] = ends[0];
		others[i] = ends[1];
	}
	pass(&p, &frame, fds, n);
	for (size_t i = 0; i < n; i++)
		(void)close(fds[i]);
	cr_expect_eq(modser_open_direct(p.client, "m", &channel, NULL), MODSER_OK);
	modser_close(channel);
	msd_buf_finish(&frame);
	msd_buf_finish(&body);
	peer_close(&p);
}

Test(hostile, of_the_descriptors_that_come_none_stays)
{
	for (size_t n = 1; n <= MOST_PASSED; n++) {
		int others[MOST_PASSED];

		open_with(n, others);
		for (size_t i = 0; i < n; i++) {
			struct pollfd end = {.fd = others[i], .events = POLLIN};
			cr_expect_eq(poll(&end, 1, 0), 1, "%zu of %zu", i + 1, n);
			(void)close(others[i]);
		}
	}
}
