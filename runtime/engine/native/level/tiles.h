/*
 * The functions of all sizes of a tile, and their table `tiles`. A source that includes
 * this defines tile_fn and TILE(r, v), the function of @r rows and @v vectors. It has
 * no guard, because it makes code.
 */
#if MSD_VECTORS == 3
#define TILES(r) TILE(r, 1) TILE(r, 2) TILE(r, 3)
#define ROW(r)                                                                         \
	{                                                                              \
		tile_##r##_1, tile_##r##_2, tile_##r##_3                               \
	}
#else
#define TILES(r) TILE(r, 1) TILE(r, 2)
#define ROW(r)                                                                         \
	{                                                                              \
		tile_##r##_1, tile_##r##_2                                             \
	}
#endif
TILES(1)
TILES(2)
TILES(3)
TILES(4)
TILES(5)
TILES(6)
#if MSD_ROWS == 8
TILES(7)
TILES(8)
#endif

static tile_fn *const tiles[ROWS][VECTORS] = {
	ROW(1), ROW(2), ROW(3), ROW(4), ROW(5), ROW(6),
#if MSD_ROWS == 8
	ROW(7), ROW(8),
#endif
};
