/* Rows of a table of SQLite from the leaves of its tree: the cells of some columns as numbers.
 *
 * https://www.sqlite.org/fileformat2.html says what stands where. Leaves with anything unusual are refused as a
 * whole, and read by `tracetui.databases.pages` or by SQLite: what is taken here has to come out as they have
 * it. Whatever a page points to has to lie within that page. */

#ifndef TRACETUI_LEAVES_H
#define TRACETUI_LEAVES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NO_NUMBER INT64_MIN /* of a cell that holds none: UNKNOWN in `tracetui.databases.pages` */
#define LEAF_OF_TABLE 13    /* the kind of a page */
#define LEAF_HEADER 8       /* bytes of a page before the pointers to its cells */
#define LEAST_CELL 4        /* bytes of a cell of a page */
#define LEAST_REST 35       /* bytes that a page lacks where a row goes on in another one */
#define DIGITS_OF_WORD 19   /* of an integer of 64 bits, whatever they are */
#define LONG_TEXT 160       /* bytes of one that is taken for no number, whatever it says */
#define WORD 8              /* bytes that are read at once, also behind the last page */

enum { INTEGERS, FLOATS, ROWIDS, KINDS_OF_COLUMNS }; /* ROWIDS: whatever the cell holds */
enum { CELL_NULL = 0, CELL_FLOAT = 7, CELL_ZERO, CELL_ONE, CELL_RESERVED, CELL_BLOB = 12 };

typedef struct {
    int32_t place; /* among the columns of the table */
    int32_t kind;
    char *values; /* room for 8 bytes a row */
} WantedColumn;

typedef struct {
    const uint8_t *pages; /* and WORD bytes more */
    size_t count, page, usable; /* pages, and bytes of each */
    WantedColumn *wanted; /* by place */
    size_t columns;
    size_t rows; /* that are filled in */
    int64_t first_rowid, last_rowid;
} Leaves;

typedef struct {
    const uint8_t *at, *end;
} Bytes;

static inline uint64_t word_at(const uint8_t *at) {
    uint64_t word = 0;
    for (int place = 0; place < WORD; place++) word = word << 8 | at[place];
    return word;
}

static inline size_t short_at(const uint8_t *at) { return (size_t)(at[0] << 8 | at[1]); }

/* A number of variable length, seven bits a byte; false where the bytes end before it does. */
static inline bool read_varint(Bytes *bytes, uint64_t *value) {
    uint64_t number = 0;
    for (int place = 0; place < 9; place++) {
        if (bytes->at >= bytes->end) return false;
        uint8_t byte = *bytes->at++;
        number = place == 8 ? number << 8 | byte : number << 7 | (byte & 0x7F);
        if (byte < 0x80) break;
    }
    *value = number;
    return true;
}

/* The bytes of a cell by its serial type. */
static inline uint64_t size_of_cell(uint64_t type) {
    static const uint8_t SIZES[CELL_BLOB] = {0, 1, 2, 3, 4, 6, 8, 8};
    return type < CELL_BLOB ? SIZES[type] : (type - CELL_BLOB) / 2;
}

/* A cell of one of the six sizes of integers. */
static inline int64_t integer_at(const uint8_t *at, uint64_t size) {
    return (int64_t)word_at(at) >> (64 - 8 * size);
}

static inline double float_at(const uint8_t *at) {
    uint64_t word = word_at(at);
    double value;
    memcpy(&value, &word, sizeof value);
    return value;
}

/* What a float says as an integer, where it is a whole one. */
static int64_t whole_of(double value) {
    bool fits = value >= -0x1p63 && value < 0x1p63; /* false of what is no number */
    return fits && value == (double)(int64_t)value ? (int64_t)value : NO_NUMBER;
}

/* What a text says as an integer; false where it takes Python to know. */
static bool parse_digits(const uint8_t *text, uint64_t size, int64_t *value) {
    *value = NO_NUMBER;
    if (size == 0 || size >= LONG_TEXT) return true;
    uint64_t number = 0, first = text[0] == '-', place = first;
    for (; place < size && text[place] >= '0' && text[place] <= '9'; place++)
        number = number * 10 + (text[place] - '0');
    if (place == size && place > first && place - first <= DIGITS_OF_WORD) {
        if (number <= INT64_MAX) *value = first ? -(int64_t)number : (int64_t)number;
        return true;
    }
    for (; place < size; place++) /* digits, spaces, signs, underscores and what is not ASCII may be a number */
        if ((text[place] | 0x20) >= 'a' && (text[place] | 0x20) <= 'z') return true;
    return false;
}

static inline bool read_integer(uint64_t type, const uint8_t *at, uint64_t size, int64_t *value) {
    if (type == CELL_NULL) *value = NO_NUMBER;
    else if (type < CELL_FLOAT) *value = integer_at(at, size);
    else if (type == CELL_FLOAT) *value = whole_of(float_at(at));
    else if (type < CELL_BLOB) *value = type == CELL_ONE;
    else if (type % 2) return parse_digits(at, size, value);
    else *value = NO_NUMBER;
    return true;
}

static inline double read_float(uint64_t type, const uint8_t *at, uint64_t size) {
    static const uint64_t NOT_A_NUMBER = 0x7FF8000000000000;
    double value;
    if (type == CELL_FLOAT) return float_at(at);
    if (type == CELL_ZERO || type == CELL_ONE) return type == CELL_ONE;
    if (type != CELL_NULL && type < CELL_FLOAT) return (double)integer_at(at, size);
    memcpy(&value, &NOT_A_NUMBER, sizeof value);
    return value;
}

/* Fills in a row of a wanted column. */
static inline bool put_cell(
    const WantedColumn *column, size_t row, int64_t rowid, uint64_t type, const uint8_t *at, uint64_t size
) {
    char *target = column->values + 8 * row;
    int64_t integer = rowid;
    if (column->kind == FLOATS) {
        double value = read_float(type, at, size);
        memcpy(target, &value, sizeof value);
        return true;
    }
    if (column->kind != ROWIDS && !read_integer(type, at, size, &integer)) return false;
    memcpy(target, &integer, sizeof integer);
    return true;
}

/* Fills in a row from its record, which begins with the types of its cells. */
static bool read_record(Leaves *leaves, Bytes record, int64_t rowid) {
    const uint8_t *start = record.at;
    size_t room = (size_t)(record.end - start);
    uint64_t header;
    if (!read_varint(&record, &header) || header > room) return false;
    Bytes types = {record.at, start + header};
    const uint8_t *cell = types.end;
    if (types.end < types.at) return false;
    int32_t place = 0;
    for (size_t column = 0; column < leaves->columns; place++) {
        uint64_t type = CELL_NULL; /* a column that was added later: the row has nothing of it */
        if (types.at < types.end && !read_varint(&types, &type)) return false;
        if (type == CELL_RESERVED || type == CELL_RESERVED + 1) return false;
        uint64_t size = size_of_cell(type);
        if (size > (uint64_t)(record.end - cell)) return false;
        for (; column < leaves->columns && leaves->wanted[column].place == place; column++)
            if (!put_cell(&leaves->wanted[column], leaves->rows, rowid, type, cell, size)) return false;
        cell += size;
    }
    return types.at < types.end || cell == record.end; /* all types read: so is the whole record */
}

/* How many rows all pages have; false where one is no leaf of a table, or has more than there is room for. */
static bool count_rows(const Leaves *leaves, size_t *rows) {
    *rows = 0;
    for (size_t page = 0; page < leaves->count; page++) {
        const uint8_t *start = leaves->pages + page * leaves->page;
        size_t count = short_at(start + 3);
        if (start[0] != LEAF_OF_TABLE || LEAF_HEADER + 2 * count > leaves->usable) return false;
        *rows += count;
    }
    return true;
}

/* Fills in the wanted columns, which have room for as many rows as were counted; false where one is unusual. */
static bool read_rows(Leaves *leaves) {
    leaves->rows = 0;
    for (size_t page = 0; page < leaves->count; page++) {
        const uint8_t *start = leaves->pages + page * leaves->page;
        size_t count = short_at(start + 3);
        for (size_t row = 0; row < count; row++) {
            size_t pointer = short_at(start + LEAF_HEADER + 2 * row);
            if (pointer < LEAF_HEADER + 2 * count || pointer > leaves->usable - LEAST_CELL) return false;
            Bytes record = {start + pointer, start + leaves->usable};
            uint64_t payload, rowid;
            if (!read_varint(&record, &payload) || !read_varint(&record, &rowid)) return false;
            if (payload > leaves->usable - LEAST_REST) return false; /* it goes on in another page */
            if (payload > (uint64_t)(record.end - record.at)) return false;
            record.end = record.at + payload;
            if (!read_record(leaves, record, (int64_t)rowid)) return false;
            if (!leaves->rows++) leaves->first_rowid = (int64_t)rowid;
            leaves->last_rowid = (int64_t)rowid;
        }
    }
    return true;
}

#endif
