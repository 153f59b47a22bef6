#include "proto/token.h"

const struct msd_token_head msd_token_heads[32] = {
	[0x00] = {MSD_TOK_NIL, 0, 0},   [0x01] = {MSD_TOK_BAD, 0, 0},
	[0x02] = {MSD_TOK_BOOL, 0, 0}, /* false */
	[0x03] = {MSD_TOK_BOOL, 0, 0}, /* true */
	[0x04] = {MSD_TOK_BIN, 1, 0},   [0x05] = {MSD_TOK_BIN, 2, 0},
	[0x06] = {MSD_TOK_BIN, 4, 0},   [0x07] = {MSD_TOK_EXT, 1, 0},
	[0x08] = {MSD_TOK_EXT, 2, 0},   [0x09] = {MSD_TOK_EXT, 4, 0},
	[0x0a] = {MSD_TOK_FLOAT, 0, 4}, [0x0b] = {MSD_TOK_FLOAT, 0, 8},
	[0x0c] = {MSD_TOK_UINT, 0, 1},  [0x0d] = {MSD_TOK_UINT, 0, 2},
	[0x0e] = {MSD_TOK_UINT, 0, 4},  [0x0f] = {MSD_TOK_UINT, 0, 8},
	[0x10] = {MSD_TOK_INT, 0, 1},   [0x11] = {MSD_TOK_INT, 0, 2},
	[0x12] = {MSD_TOK_INT, 0, 4},   [0x13] = {MSD_TOK_INT, 0, 8},
	[0x14] = {MSD_TOK_EXT, 0, 1},   [0x15] = {MSD_TOK_EXT, 0, 2},
	[0x16] = {MSD_TOK_EXT, 0, 4},   [0x17] = {MSD_TOK_EXT, 0, 8},
	[0x18] = {MSD_TOK_EXT, 0, 16},  [0x19] = {MSD_TOK_STR, 1, 0},
	[0x1a] = {MSD_TOK_STR, 2, 0},   [0x1b] = {MSD_TOK_STR, 4, 0},
	[0x1c] = {MSD_TOK_ARRAY, 2, 0}, [0x1d] = {MSD_TOK_ARRAY, 4, 0},
	[0x1e] = {MSD_TOK_MAP, 2, 0},   [0x1f] = {MSD_TOK_MAP, 4, 0},
};
