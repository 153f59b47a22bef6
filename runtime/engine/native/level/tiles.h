#ifndef MSD_RUNTIME_ENGINE_NATIVE_LEVEL_TILES_H
#define MSD_RUNTIME_ENGINE_NATIVE_LEVEL_TILES_H
/*
 * The sizes of a tile. A source defines TILE(r, v), the function tile_@r_@v of @r rows
 * and @v vectors. EACH_TILE makes the functions of all sizes, and TILE_TABLE is the
 * initializer of their table, rows first.
 */
#if MSD_VECTORS == 3
#define TILES(r) TILE(r, 1) TILE(r, 2) TILE(r, 3)
#define TILE_ROW(r)                                                                    \
	{                                                                              \
		tile_##r##_1, tile_##r##_2, tile_##r##_3                               \
	}
#else
#define TILES(r) TILE(r, 1) TILE(r, 2)
#define TILE_ROW(r)                                                                    \
	{                                                                              \
		tile_##r##_1, tile_##r##_2                                             \
	}
#endif
#if MSD_ROWS == 8
#define EACH_TILE                                                                      \
	TILES(1) TILES(2) TILES(3) TILES(4) TILES(5) TILES(6) TILES(7) TILES(8)
#define TILE_TABLE                                                                     \
	{                                                                              \
		TILE_ROW(1), TILE_ROW(2), TILE_ROW(3), TILE_ROW(4), TILE_ROW(5),       \
			TILE_ROW(6), TILE_ROW(7), TILE_ROW(8)                          \
	}
#else
#define EACH_TILE TILES(1) TILES(2) TILES(3) TILES(4) TILES(5) TILES(6)
#define TILE_TABLE                                                                     \
	{                                                                              \
		TILE_ROW(1), TILE_ROW(2), TILE_ROW(3), TILE_ROW(4), TILE_ROW(5),       \
			TILE_ROW(6)                                                    \
	}
#endif

#endif
