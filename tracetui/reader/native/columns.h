/* The columns that a scan fills, and their names. */

#ifndef TRACETUI_COLUMNS_H
#define TRACETUI_COLUMNS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* What values are numbered by, from 0 on, as they are met: lists of JSON values. */
#define NUMBERING_LIST(NUMBERING) \
    NUMBERING(SHAPES, "shapes")     /* process, thread, name, category */ \
    NUMBERING(SAMPLES, "samples")   /* process, thread, name, keys of the args: of a counter event */ \
    NUMBERING(TEXTS, "texts")       /* of the args */ \
    NUMBERING(FLOW_IDS, "flow_ids") /* that are no integers of 63 bits */

/* Each column: its name, the numpy dtype of its values, and what those count.
 *
 * That is one of the numberings, in which -1 is no text, and -1 - number an id that is numbered; "events", all
 * that are scanned; or nothing. In the tables of events the times follow the shapes, and the ordinals those. */
#define COLUMN_LIST(COLUMN) \
    COLUMN(SLICE_SHAPE, "slice.shape", "i4", "shapes") \
    COLUMN(SLICE_TIME, "slice.time", "i8", "") \
    COLUMN(SLICE_EVENT, "slice.event", "i4", "events") \
    COLUMN(SLICE_DUR, "slice.dur", "i8", "") \
    COLUMN(SLICE_CORRELATION, "slice.correlation", "i8", "") \
    COLUMN(SLICE_TASK_TYPE, "slice.task_type", "i4", "texts") \
    COLUMN(SLICE_STACK, "slice.stack", "i4", "texts") \
    COLUMN(SLICE_DIRECTION, "slice.direction", "i4", "texts") \
    COLUMN(SLICE_PYTHON_ID, "slice.python_id", "i4", "") \
    COLUMN(SLICE_PYTHON_PARENT, "slice.python_parent", "i4", "") \
    COLUMN(BEGIN_SHAPE, "begin.shape", "i4", "shapes") \
    COLUMN(BEGIN_TIME, "begin.time", "i8", "") \
    COLUMN(BEGIN_EVENT, "begin.event", "i4", "events") \
    COLUMN(BEGIN_DUR, "begin.dur", "i8", "") \
    COLUMN(BEGIN_CORRELATION, "begin.correlation", "i8", "") \
    COLUMN(BEGIN_TASK_TYPE, "begin.task_type", "i4", "texts") \
    COLUMN(BEGIN_STACK, "begin.stack", "i4", "texts") \
    COLUMN(BEGIN_DIRECTION, "begin.direction", "i4", "texts") \
    COLUMN(BEGIN_PYTHON_ID, "begin.python_id", "i4", "") \
    COLUMN(BEGIN_PYTHON_PARENT, "begin.python_parent", "i4", "") \
    COLUMN(END_SHAPE, "end.shape", "i4", "shapes") \
    COLUMN(END_TIME, "end.time", "i8", "") \
    COLUMN(END_EVENT, "end.event", "i4", "events") \
    COLUMN(INSTANT_SHAPE, "instant.shape", "i4", "shapes") \
    COLUMN(INSTANT_TIME, "instant.time", "i8", "") \
    COLUMN(INSTANT_EVENT, "instant.event", "i4", "events") \
    COLUMN(FLOW_SHAPE, "flow.shape", "i4", "shapes") \
    COLUMN(FLOW_TIME, "flow.time", "i8", "") \
    COLUMN(FLOW_PHASE, "flow.phase", "i1", "") \
    COLUMN(FLOW_ID, "flow.id", "i8", "flow_ids") \
    COLUMN(COUNTER_SAMPLE, "counter.sample", "i4", "samples") \
    COLUMN(COUNTER_TIME, "counter.time", "i8", "") \
    COLUMN(COUNTER_VALUE, "counter.value", "f8", "") \
    COLUMN(HCCL_EVENT, "hccl.event", "i4", "events") \
    COLUMN(HCCL_SRC, "hccl.src", "i4", "") \
    COLUMN(HCCL_DST, "hccl.dst", "i4", "") \
    COLUMN(HCCL_GROUP_SIZE, "hccl.group_size", "i4", "") \
    COLUMN(HCCL_SIZE, "hccl.size", "i8", "") \
    COLUMN(HCCL_COUNT, "hccl.count", "i8", "") \
    COLUMN(HCCL_TRANSPORT, "hccl.transport", "i4", "texts") \
    COLUMN(HCCL_LINK, "hccl.link", "i4", "texts") \
    COLUMN(HCCL_DTYPE, "hccl.dtype", "i4", "texts") \
    COLUMN(HCCL_ALGORITHM, "hccl.algorithm", "i4", "texts") \
    COLUMN(HCCL_COLLECTIVE, "hccl.collective", "i4", "texts") \
    COLUMN(HCCL_PROCESS_GROUP, "hccl.process_group", "i4", "texts") \
    COLUMN(HCCL_GROUP_RANKS, "hccl.group_ranks", "i4", "texts") \
    COLUMN(NUMBERED_EVENT, "numbered.event", "i4", "events") \
    COLUMN(NUMBERED_TASK, "numbered.task", "i8", "") \
    COLUMN(MEMORY_EVENT, "memory.event", "i4", "events") \
    COLUMN(MEMORY_ADDRESS, "memory.address", "i8", "") \
    COLUMN(MEMORY_ALLOCATED, "memory.allocated", "i8", "") \
    COLUMN(MEMORY_RESERVED, "memory.reserved", "i8", "") \
    COLUMN(MEMORY_DEVICE, "memory.device", "i4", "") \
    COLUMN(MEMORY_SIZE, "memory.size", "i8", "")

#define COLUMN_NUMBER(number, name, dtype, counts) number,
#define NUMBERING_NUMBER(number, name) number,
enum { COLUMN_LIST(COLUMN_NUMBER) COLUMNS };
enum { NUMBERING_LIST(NUMBERING_NUMBER) NUMBERINGS };

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
