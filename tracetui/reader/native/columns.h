/* The columns that a scan fills, and their names. */

#ifndef TRACETUI_COLUMNS_H
#define TRACETUI_COLUMNS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Of each table what its events have in common and their times; if these can be asked for, their numbers. */
enum {
    SLICE_SHAPE,
    SLICE_TIME,
    SLICE_EVENT,
    SLICE_DUR,
    SLICE_CORRELATION,
    SLICE_TASK_TYPE,
    SLICE_STACK,
    SLICE_DIRECTION,
    SLICE_PYTHON_ID,
    BEGIN_SHAPE,
    BEGIN_TIME,
    BEGIN_EVENT,
    BEGIN_DUR,
    BEGIN_CORRELATION,
    BEGIN_TASK_TYPE,
    BEGIN_STACK,
    BEGIN_DIRECTION,
    BEGIN_PYTHON_ID,
    END_SHAPE,
    END_TIME,
    END_EVENT,
    INSTANT_SHAPE,
    INSTANT_TIME,
    INSTANT_EVENT,
    FLOW_SHAPE,
    FLOW_TIME,
    FLOW_PHASE,
    FLOW_ID,
    COUNTER_SAMPLE,
    COUNTER_TIME,
    COUNTER_VALUE,
    HCCL_EVENT,
    HCCL_SRC,
    HCCL_DST,
    HCCL_SIZE,
    HCCL_COUNT,
    HCCL_TRANSPORT,
    HCCL_LINK,
    HCCL_DTYPE,
    HCCL_ALGORITHM,
    COLUMNS
};

static const char *const COLUMN_NAMES[] = {
    "slice.shape",
    "slice.time",
    "slice.event",
    "slice.dur",
    "slice.correlation",
    "slice.task_type",
    "slice.stack",
    "slice.direction",
    "slice.python_id",
    "begin.shape",
    "begin.time",
    "begin.event",
    "begin.dur",
    "begin.correlation",
    "begin.task_type",
    "begin.stack",
    "begin.direction",
    "begin.python_id",
    "end.shape",
    "end.time",
    "end.event",
    "instant.shape",
    "instant.time",
    "instant.event",
    "flow.shape",
    "flow.time",
    "flow.phase",
    "flow.id",
    "counter.sample",
    "counter.time",
    "counter.value",
    "hccl.event",
    "hccl.src",
    "hccl.dst",
    "hccl.size",
    "hccl.count",
    "hccl.transport",
    "hccl.link",
    "hccl.dtype",
    "hccl.algorithm",
};

typedef struct {
    char *bytes;
    size_t used, room;
    size_t marked; /* of `used`: what is behind can be taken back */
} Column;

static inline bool put(Column *column, const void *value, size_t size) {
    if (column->used + size > column->room) {
        size_t room = column->room ? column->room * 2 : 1 << 12;
        char *bytes = realloc(column->bytes, room);
        if (!bytes) return false;
        column->bytes = bytes;
        column->room = room;
    }
    memcpy(column->bytes + column->used, value, size);
    column->used += size;
    return true;
}

static inline bool put8(Column *column, int8_t value) { return put(column, &value, sizeof value); }
static inline bool put32(Column *column, int32_t value) { return put(column, &value, sizeof value); }
static inline bool put64(Column *column, int64_t value) { return put(column, &value, sizeof value); }
static inline bool put_float(Column *column, double value) { return put(column, &value, sizeof value); }

#endif
