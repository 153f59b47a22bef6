#ifndef MSD_PROTO_LIMITS_H
#define MSD_PROTO_LIMITS_H
/*
 * Every limit on peer-controlled sizes in a frame. PROTOCOL.md's limits table repeats
 * these values, and a test compares the two. Limits that the operator may set are in
 * daemon/limits.h.
 */
#define MSD_FRAME_HEADER_BYTES 16u
#define MSD_MAX_BODY_BYTES (1024u * 1024u)   /* msgpack body of a request */
#define MSD_MAX_REPLY_BODY_BYTES (64u << 20) /* msgpack body of a response */
#define MSD_MAX_PAYLOAD_BYTES (4ull << 30)   /* tensor bytes of one frame */
#define MSD_MAX_DEPTH 16u                    /* nesting of arrays and maps */
#define MSD_MAX_OBJECTS 65536u               /* msgpack objects in a request */
#define MSD_MAX_REPLY_OBJECTS (4u << 20)     /* msgpack objects in a response */
#define MSD_MAX_MAP_PAIRS 64u                /* pairs of one map */
#define MSD_MAX_TENSORS 1024u                /* tensor values in one body */
#define MSD_MAX_NAME_BYTES 64u               /* module name */
#define MSD_MAX_FUNC_NAME_BYTES 512u         /* function name */
#define MSD_MAX_IN_FLIGHT 1024u              /* concurrent requests of one connection */
#define MSD_MAX_CLIENT_SEGMENTS 16u          /* client segments of one connection */
#define MSD_MAX_REPEATS 1024u                /* series of one measured call */
#define MSD_MAX_RESULTS_NAMED 64u            /* earlier results named by one request */
#define MSD_MAX_RESULT_PATH 4u               /* path steps into such a result */
#define MSD_MAX_RESULT_BYTES 1024u           /* size of such a result */
#define MSD_MAX_TYPE_KEY_BYTES 256u          /* type key of an object */
#define MSD_MAX_RESULTS_KEPT 64u /* results kept without a waiting request */
#define MSD_TENSOR_ALIGN 128u    /* alignment of payload offsets and of memory */
#define MSD_PROTOCOL_VERSION 1u
#define MSD_MAGIC "\xEDmd\x01" /* the last byte is the version */

#endif
